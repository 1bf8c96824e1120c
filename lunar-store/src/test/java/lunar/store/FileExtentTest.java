package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Extent;
import lunar.block.MediumException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests holes in files as Linux reports them. */
class FileExtentTest {
    private static final FileOptions LARGE_BLOCKS = FileOptions.BUFFERED.withBlockSize(4096);

    @TempDir
    Path folder;

    @Test
    void shouldFindHolesAndNotWhatIsBetweenThem() throws IOException {
        Path image = folder.resolve("disk.img");
        try (var device = FileDevice.open(image, FileOptions.BUFFERED.withCreateBytes(8 << 20))) {
            assumeHolesAreTold(device);
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 16384, false));
            device.write(2048, filled(64 << 10, 7));
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 2048, false));
            assertThat(device.extent(2050)).isEqualTo(new Extent(2050, 126, true));
            assertThat(device.extent(2176)).isEqualTo(new Extent(2176, 16384 - 2176, false));
            if (device.supports(Capability.UNMAP)) {
                device.unmap(2048, 128);
                assertThat(device.extent(0)).isEqualTo(new Extent(0, 16384, false));
            }
            device.write(16376, filled(4096, 7));
            assertThat(device.extent(16383)).isEqualTo(new Extent(16383, 1, true));
        }
        try (var device = FileDevice.open(image, LARGE_BLOCKS.withReadOnly(true))) {
            assertThat(device.extent(1)).isEqualTo(new Extent(1, 2046, false));
            assertThat(device.extent(2047)).isEqualTo(new Extent(2047, 1, true));
        }
    }

    @Test
    void shouldTreatABlockPartlyInAHoleAsAllocated() throws Exception {
        Path disk = folder.resolve("small-blocks");
        try (var image = new RandomAccessFile(disk.toFile(), "rw")) {
            image.setLength(8 << 20);
        }
        Path mount = Files.createDirectory(folder.resolve("mount"));
        LoopDisk.run(List.of("mkfs.ext4", "-q", "-b", "1024", disk.toString()));
        LoopDisk.run(List.of("mount", "-o", "loop", disk.toString(), mount.toString()));
        try {
            Path file = mount.resolve("disk.img");
            try (var image = new RandomAccessFile(file.toFile(), "rw")) {
                image.setLength(64 << 10);
                image.seek(4096 + 2048);
                image.write(new byte[1024]);
                image.seek(6 * 4096 - 1024);
                image.write(new byte[2048]);
            }
            try (var device = FileDevice.open(file, LARGE_BLOCKS)) {
                assumeHolesAreTold(device);
                assertThat(device.extent(0)).isEqualTo(new Extent(0, 1, false));
                assertThat(device.extent(1)).isEqualTo(new Extent(1, 1, true));
                assertThat(device.extent(2)).isEqualTo(new Extent(2, 3, false));
                assertThat(device.extent(5)).isEqualTo(new Extent(5, 2, true));
                assertThat(device.extent(7)).isEqualTo(new Extent(7, 9, false));
            }
        } finally {
            LoopDisk.run(List.of("umount", mount.toString()));
        }
    }

    @Test
    void shouldNotTreatTruncatedBlocksAsAHole() throws IOException {
        Path image = folder.resolve("disk.img");
        try (var device = FileDevice.open(image, LARGE_BLOCKS.withCreateBytes(1 << 20))) {
            assumeHolesAreTold(device);
            try (var file = new RandomAccessFile(image.toFile(), "rw")) {
                file.setLength(40 << 10);
            }
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 10, false));
            assertThat(device.extent(10).allocated()).isTrue();
            assertThat(device.extent(255)).isEqualTo(new Extent(255, 1, true));
            assertThatThrownBy(() -> device.read(10, filled(4096, 0)))
                    .isInstanceOf(MediumException.class);
        }
    }

    private static void assumeHolesAreTold(BlockDevice device) throws IOException {
        assumeTrue(LinuxFile.isAvailable(), "no system calls here");
        assumeFalse(device.extent(0).allocated(), "the file system does not tell holes");
    }

    private static MemorySegment filled(int bytes, int value) {
        return MemorySegment.ofArray(new byte[bytes]).fill((byte) value);
    }
}
