package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.MiscompareException;
import lunar.block.NotSupportedException;
import lunar.filter.EncryptFilter;
import lunar.filter.KeyFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EncryptFilterTest {
    @TempDir
    private Path dir;

    @BeforeEach
    void createKey() throws Exception { new KeyFile(dir.resolve("key")).create(); }

    private BlockDevice open(String key) throws Exception {
        return Devices.open("encrypt=" + dir.resolve(key) + ":" + image() + "?size=1MiB");
    }

    private String image() { return "file:" + dir.resolve("disk.img"); }

    /** The check value that the image carries. */
    private static Optional<String> check(BlockDevice encrypted) throws Exception {
        return ((EncryptFilter) encrypted).below().labels().orElseThrow().read("key-check");
    }

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
        try (BlockDevice device = open("other,create-key=yes,check=adopt")) {
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
    void shouldNotDestroyAnotherDeviceOfTheSameKeyFile() throws Exception {
        Path link = Files.createSymbolicLink(dir.resolve("link"), dir.resolve("key"));
        String other = "encrypt=" + link + ":file:" + dir.resolve("other.img") + "?size=1MiB";
        byte[] keyBefore = Files.readAllBytes(dir.resolve("key"));
        try (BlockDevice device = open("key")) {
            device.write(8, filled(0x5a));
            try (BlockDevice beside = Devices.open(other)) {
                beside.write(8, filled(0x77));
                assertThatThrownBy(device::eraseKey).isInstanceOf(NotSupportedException.class)
                        .hasMessageContaining("key of another open device");
                assertThat(Files.readAllBytes(dir.resolve("key"))).isEqualTo(keyBefore);
                assertThat(read(device, 8)).containsOnly(0x5a);
                assertThat(read(beside, 8)).containsOnly(0x77);
            }
            device.eraseKey(); // and again, since the file is another one then
            device.eraseKey();
            assertThat(Files.readAllBytes(dir.resolve("key"))).isNotEqualTo(keyBefore);
        }
    }

    /** As an earlier version left it, without a check value. */
    @Test
    void shouldMakeNoKeyForADeviceThatHasData() throws Exception {
        Files.write(dir.resolve("disk.img"), new byte[1 << 20]);
        try (BlockDevice plain = Devices.open(image())) {
            plain.write(8, filled(0x5a));
        }
        assertThatThrownBy(() -> open("lost,create-key=yes"))
                .isInstanceOf(DeviceGoneException.class).hasMessageContaining("contains data")
                .hasMessageContaining("lunar key create " + dir.resolve("lost"));
        assertThat(dir.resolve("lost")).doesNotExist();
        try (BlockDevice plain = Devices.open(image())) {
            plain.write(8, filled(0));
        }
        open("lost,create-key=yes").close();
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
    void shouldRejectAnInvalidKeyFileWithoutShowingItsContent() throws Exception {
        Files.writeString(dir.resolve("key"), "c0ffee no key"); // its mode stays
        assertThatThrownBy(() -> open("key")).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("is not a key of 64 bytes")
                .hasMessageNotContaining("c0ffee");
        assertThat(Files.readString(dir.resolve("key"))).isEqualTo("c0ffee no key");
    }

    @Test
    void shouldRejectAKeyFileThatIsMissing() {
        assertThatThrownBy(() -> open("none")).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("does not exist").hasMessageContaining("lunar key create");
        assertThat(dir.resolve("none")).doesNotExist();
    }

    @Test
    void shouldRejectAWrongKeyAlsoInACopy() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        new KeyFile(dir.resolve("wrong")).create();
        open("key").close();
        assertThatThrownBy(() -> open("wrong")).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("is not the key of");
        open("key").close();
        Path copy = dir.resolve("copy.img");
        LoopDisk.run(List.of("cp", "-a", dir.resolve("disk.img").toString(), copy.toString()));
        assertThatThrownBy(() -> Devices.open("encrypt=" + dir.resolve("wrong") + ":file:" + copy))
                .hasMessageContaining("is not the key of");
    }

    /** Images of earlier versions, without a check value. */
    @Test
    void shouldAcceptAnyKeyOfAnImageWithoutACheckValue() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        new KeyFile(dir.resolve("wrong")).create();
        Devices.open(image() + "?size=1MiB").close();
        try (BlockDevice reader = Devices.open(
                "encrypt=" + dir.resolve("wrong") + ":" + image() + "?read-only=true")) {
            assertThat(check(reader)).as("reading settles nothing").isEmpty();
        }
        open("key").close();
        assertThatThrownBy(() -> open("wrong")).hasMessageContaining("is not the key of");
    }

    @Test
    void shouldAcceptEitherKeyAfterACrashDuringKeyErasure() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        Path key = dir.resolve("key");
        String before = Files.readString(key);
        String during;
        try (BlockDevice device = open("key")) {
            String settled = check(device).orElseThrow();
            Path folder = Files.createDirectory(dir.resolve("key.new")); // so that no new key can be written
            Files.createFile(folder.resolve("full"));
            assertThatThrownBy(device::eraseKey).isInstanceOf(DeviceGoneException.class);
            Files.delete(folder.resolve("full"));
            during = check(device).orElseThrow();
            assertThat(during).isNotEqualTo(settled);
            device.eraseKey();
        }
        String after = Files.readString(key);
        assertThat(after).isNotEqualTo(before);
        open("key").close();
        try (BlockDevice raw = Devices.open(image())) {
            raw.labels().orElseThrow().write("key-check", during); // as the crash leaves it
        }
        Files.writeString(key, before);
        open("key").close();
        try (BlockDevice raw = Devices.open(image())) {
            assertThat(raw.labels().orElseThrow().read("key-check").orElseThrow().split(" "))
                    .as("settled for one").hasSize(2);
        }
    }

    @Test
    void shouldNotTreatADamagedCheckValueAsAbsent() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        open("key").close();
        try (BlockDevice raw = Devices.open(image())) {
            raw.labels().orElseThrow().write("key-check", "1 damaged");
        }
        assertThatThrownBy(() -> open("key")).hasMessageContaining("check=adopt");
        open("key,check=adopt").close();
        open("key").close();
    }

    @Test
    void shouldRejectInvalidSettings() {
        assertThatThrownBy(() -> open("key,create-key=no")).hasMessageContaining("create-key=yes");
        assertThatThrownBy(() -> open("key,check=no")).hasMessageContaining("check=adopt");
    }

    @Test
    void shouldCheckEachKeyOfADeviceThatIsEncryptedTwice() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        new KeyFile(dir.resolve("outer")).create();
        String twice = "encrypt=" + dir.resolve("outer") + ":encrypt=" + dir.resolve("key") + ":"
                + image();
        Devices.open(twice + "?size=1MiB").close();
        Devices.open(twice).close();
        assertThatThrownBy(() -> Devices.open(twice.replace("outer", "key")))
                .hasMessageContaining("is not the key of");
        assertThatThrownBy(() -> open("outer")).hasMessageContaining("is not the key of");
    }
}
