package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies an image with random content to a LUN and back, and compares. */
class QemuCopyIT {
    private static final long SIZE = 256L << 20;
    private static final Duration BOUND = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    @BeforeEach
    void needTools() { Peer.assume("qemu-img"); }

    @Test
    void shouldKeepImageInMemory() throws Exception {
        try (ServedTarget target = ServedTarget.of("ram:256MiB")) {
            assertKeepsImage(target);
        }
    }

    @Test
    void shouldKeepImageInMemoryOf4096ByteBlocks() throws Exception {
        try (ServedTarget target = ServedTarget.of("ram:256MiB?block-size=4096")) {
            assertKeepsImage(target);
        }
    }

    @Test
    void shouldKeepImageInFile() throws Exception {
        Path disk = folder.resolve("disk.img");
        try (ServedTarget target = ServedTarget.of("file:" + disk + "?size=256MiB")) {
            assertKeepsImage(target);
        }
        assertThat(Files.mismatch(folder.resolve("in.img"), disk)).isEqualTo(-1);
    }

    private void assertKeepsImage(ServedTarget target) throws Exception {
        long seed = Seed.next();
        Path in = RandomImage.write(folder.resolve("in.img"), SIZE, seed);
        Path out = folder.resolve("out.img");

        Peer.run(BOUND, "qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", in.toString(),
                target.url(0)).succeeded();
        Peer.run(BOUND, "qemu-img", "convert", "-f", "raw", "-O", "raw", target.url(0),
                out.toString()).succeeded();

        assertThat(Files.mismatch(in, out)).as("seed " + seed).isEqualTo(-1);
        assertThat(Peer.run(BOUND, "qemu-img", "compare", "-f", "raw", "-F", "raw", in.toString(),
                target.url(0)).succeeded().output()).contains("Images are identical.");
    }
}
