package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.MiscompareException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EncryptFilterTest {
    @TempDir
    private Path dir;

    private BlockDevice open(String key) throws Exception {
        return Devices.open("encrypt=" + dir.resolve(key) + ":" + image() + "?size=1MiB");
    }

    private String image() { return "file:" + dir.resolve("disk.img"); }

    private static MemorySegment filled(int value) {
        byte[] bytes = new byte[4096];
        Arrays.fill(bytes, (byte) value);
        return MemorySegment.ofArray(bytes);
    }

    private static byte[] read(BlockDevice device, long lba) throws Exception {
        MemorySegment buffer = filled(0xee);
        device.read(lba, buffer);
        return buffer.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldKeepOnlyCiphertextInTheStoreAndReadItAgainWithTheSameKey() throws Exception {
        try (BlockDevice device = open("key")) {
            device.write(8, filled(0x5a));
            device.flush();
        }
        byte[] stored;
        try (BlockDevice plain = Devices.open(image())) {
            stored = read(plain, 8);
        }
        assertThat(Arrays.equals(stored, 0, 512, stored, 512, 1024))
                .as("equal blocks are not equal in the store").isFalse();
        try (BlockDevice device = open("key")) {
            assertThat(read(device, 8)).containsOnly(0x5a);
            assertThat(read(device, 0)).as("a hole").containsOnly(0);
        }
        try (BlockDevice device = open("other")) {
            assertThat(read(device, 8)).isNotEqualTo(filled(0x5a).toArray(ValueLayout.JAVA_BYTE));
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir.resolve("key"))))
                .isEqualTo("rw-------");
    }

    @Test
    void shouldMakeAllUnreadableByANewKeyThatStays() throws Exception {
        String before;
        try (BlockDevice device = open("key")) {
            assertThat(device.supports(Capability.KEY_ERASURE)).isTrue();
            device.write(8, filled(0x5a));
            before = Files.readString(dir.resolve("key"));
            device.eraseKey();
            assertThat(read(device, 8)).isNotEqualTo(filled(0x5a).toArray(ValueLayout.JAVA_BYTE));
            device.write(8, filled(0x77));
        }
        assertThat(Files.readString(dir.resolve("key"))).isNotEqualTo(before);
        try (BlockDevice device = open("key")) {
            assertThat(read(device, 8)).containsOnly(0x77);
        }
    }

    @Test
    void shouldNameTheByteThatDiffersInThePlainBlock() throws Exception {
        try (BlockDevice device = open("key")) {
            device.write(0, filled(1));
            MemorySegment both = MemorySegment.ofArray(new byte[2 * 1024]);
            both.asSlice(0, 1024).fill((byte) 1);
            both.set(ValueLayout.JAVA_BYTE, 700, (byte) 2);
            assertThatThrownBy(() -> device.compareAndWrite(0, both))
                    .isInstanceOfSatisfying(MiscompareException.class,
                            e -> assertThat(e.offsetBytes()).isEqualTo(700));
        }
    }

    @Test
    void shouldRefuseAKeyFileThatIsNoneWithoutTellingItsContent() throws Exception {
        Files.writeString(dir.resolve("key"), "c0ffee no key");
        assertThatThrownBy(() -> open("key")).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("is not a key of 64 bytes")
                .hasMessageNotContaining("c0ffee");
        assertThat(Files.readString(dir.resolve("key"))).isEqualTo("c0ffee no key");
    }
}
