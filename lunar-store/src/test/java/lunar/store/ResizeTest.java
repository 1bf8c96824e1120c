package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests devices that grow or shrink while they are open. */
class ResizeTest {
    @TempDir
    Path folder;

    private void truncate(long bytes) throws IOException {
        try (var file = new RandomAccessFile(folder.resolve("disk.img").toFile(), "rw")) {
            file.setLength(bytes);
        }
    }

    private static MemorySegment block(int value) {
        return MemorySegment.ofArray(new byte[512]).fill((byte) value);
    }

    private static byte read(BlockDevice device, long lba) throws StorageException {
        byte[] bytes = new byte[512];
        device.read(lba, MemorySegment.ofArray(bytes));
        return bytes[511];
    }

    @Test
    void shouldDetectResizedFileOnRefresh() throws Exception {
        try (BlockDevice device = Devices
                .open("file:" + folder.resolve("disk.img") + "?size=1MiB")) {
            device.write(2047, block(1));
            truncate(3 << 20);
            assertThat(device.blockCount()).isEqualTo(2048);
            device.refresh();
            assertThat(device.blockCount()).isEqualTo(6144);
            assertThat(read(device, 2047)).isEqualTo((byte) 1);
            assertThat(read(device, 6143)).isZero();
            device.write(6143, block(2));
            truncate((2 << 20) + 700);
            device.refresh();
            assertThat(device.blockCount()).as("whole blocks").isEqualTo(4097);
            assertThatThrownBy(() -> read(device, 4097)).isInstanceOf(OutOfRangeException.class);
            truncate(0);
            device.refresh();
            assertThat(device.blockCount()).as("no size to serve").isEqualTo(4097);
            assertThatThrownBy(() -> read(device, 0)).isInstanceOf(StorageException.class);
        }
    }

    @Test
    void shouldContinueUnderAnInterruptThatClosedTheChannel() throws Exception {
        try (BlockDevice device = Devices
                .open("file:" + folder.resolve("disk.img") + "?size=1MiB")) {
            truncate(2 << 20);
            Thread.currentThread().interrupt();
            device.refresh();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(device.blockCount()).isEqualTo(4096);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file:FOLDER/disk.img?size=1MiB", "ram:1MiB",
            "verify:ram:1MiB", "file:FOLDER/disk.img?size=1MiB&io=sync"})
    void shouldGrow(String uri) throws Exception {
        try (BlockDevice device = Devices.open(uri.replace("FOLDER", folder.toString()))) {
            device.write(2047, block(1));
            device.grow(2048);
            assertThat(device.blockCount()).isEqualTo(2048);
            device.grow((3L << 30) / 512);
            assertThat(device.sizeBytes()).isEqualTo(3L << 30);
            long last = device.blockCount() - 1;
            assertThat(read(device, 2047)).isEqualTo((byte) 1);
            assertThat(read(device, 2048)).isZero();
            assertThat(read(device, last)).isZero();
            device.write(last, block(3));
            device.refresh();
            assertThat(read(device, last)).isEqualTo((byte) 3);
            assertThat(device.extent(2048).allocated()).isFalse();
            assertThatThrownBy(() -> device.grow(2048)).isInstanceOf(InvalidRequestException.class);
            assertThat(device.blockCount()).isEqualTo(last + 1);
        }
    }

    @Test
    void shouldGrowPastThePageCacheByWholeUnits() throws Exception {
        Path file = folder.resolve("disk.img");
        BlockDevice direct;
        try {
            direct = Devices.open("file:" + file + "?size=1MiB&io=direct");
        } catch (IllegalArgumentException e) { // no direct I/O in this file system
            assertThat(e).hasMessageContaining("direct");
            return;
        }
        try (direct) {
            direct.write(2047, block(1));
            direct.grow(4096);
            assertThat(Files.size(file)).isEqualTo(2 << 20);
            assertThat(read(direct, 2047)).isEqualTo((byte) 1);
            assertThatThrownBy(() -> direct.grow(4097))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void shouldStayGrownIfItsSizeIsQueriedMeanwhile() throws Exception {
        try (BlockDevice device = Devices
                .open("file:" + folder.resolve("disk.img") + "?size=1MiB")) {
            Thread looking;
            synchronized (device) { // in which the size changes
                looking = Thread.ofPlatform().start(() -> {
                    try {
                        device.refresh();
                    } catch (StorageException e) {
                        throw new AssertionError(e);
                    }
                });
                while (looking.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                device.grow(4096);
            }
            looking.join();
            assertThat(device.blockCount()).isEqualTo(4096);
        }
    }

    @Test
    void shouldNotGrowWhatIsOnlyRead() throws Exception {
        truncate(1 << 20);
        try (BlockDevice device = Devices
                .open("file:" + folder.resolve("disk.img") + "?read-only=true")) {
            assertThatThrownBy(() -> device.grow(4096)).isInstanceOf(NotSupportedException.class);
        }
    }
}
