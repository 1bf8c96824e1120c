package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageFormatTest {
    @TempDir
    Path folder;

    private Path file(int at, int... bytes) throws Exception {
        byte[] content = new byte[4096];
        for (int i = 0; i < bytes.length; i++) {
            content[at + i] = (byte) bytes[i];
        }
        return Files.write(folder.resolve("disk"), content);
    }

    @Test
    void shouldKnowImagesByTheirMagicNumbers() throws Exception {
        assertThat(ImageFormat.of(file(0, 'Q', 'F', 'I', 0xfb, 0, 0, 0, 3)))
                .contains(ImageFormat.QCOW2);
        assertThat(ImageFormat.of(file(0, 'K', 'D', 'M', 'V'))).contains(ImageFormat.VMDK);
        assertThat(ImageFormat.of(file(0, 'v', 'h', 'd', 'x', 'f', 'i', 'l', 'e')))
                .contains(ImageFormat.VHDX);
        assertThat(ImageFormat.of(file(64, 0x7f, 0x10, 0xda, 0xbe))).contains(ImageFormat.VDI);
    }

    @Test
    void shouldTakeOtherFilesForRawDisks() throws Exception {
        assertThat(ImageFormat.of(file(510, 0x55, 0xaa))).isEmpty();
        assertThat(ImageFormat.of(Files.write(folder.resolve("short"), new byte[]{'Q', 'F'})))
                .isEmpty();
    }
}
