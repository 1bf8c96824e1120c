package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.WriteProtectedException;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests whole disks with loop devices, where the machine permits them. */
class DiskDeviceTest {
    private static final FileOptions DIRECT = FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT);

    @Nested
    class Buffered extends OnDisk {
        Buffered() { super(FileOptions.BUFFERED); }
    }

    @Nested
    class Direct extends OnDisk {
        Direct() { super(DIRECT); }
    }

    abstract static class OnDisk extends BlockDeviceContract {
        @TempDir
        Path folder;
        private final FileOptions options;
        private final Deque<LoopDisk> disks = new ArrayDeque<>();

        OnDisk(FileOptions options) { this.options = options; }

        @Override
        protected BlockDevice create(long blockCount) throws Exception {
            long sizeBytes = (blockCount * 512 + 4095) / 4096 * 4096;
            disks.push(LoopDisk.over(folder.resolve("image" + disks.size()), sizeBytes));
            return DiskDevice.open(disks.getFirst().device(), options);
        }

        @Override
        protected Optional<BlockDevice> reopen(BlockDevice device) throws Exception {
            device.close();
            return Optional.of(DiskDevice.open(disks.getFirst().device(), options));
        }

        @Override
        protected Optional<BlockDevice> createReadOnly(long blockCount) throws Exception {
            create(blockCount).close();
            return Optional
                    .of(DiskDevice.open(disks.getFirst().device(), options.withReadOnly(true)));
        }

        @AfterEach
        void detach() throws Exception {
            // Detaching is lazy: a disk still open goes when it is closed.
            for (LoopDisk disk : disks) {
                disk.close();
            }
        }
    }

    /** The kernel's page cache of a loop device has old blocks, as that of a shared disk has on each host. */
    @ParameterizedTest
    @EnumSource(FileOptions.Io.class)
    void shouldForgetBlocksThatAnotherHostHasWritten(FileOptions.Io io, @TempDir Path folder)
            throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        Path image = folder.resolve("image");
        try (LoopDisk disk = LoopDisk.over(image, 16 << 20);
                FileDevice device = DiskDevice.open(disk.device(),
                        FileOptions.BUFFERED.withIo(io));
                var otherHost = FileChannel.open(image, StandardOpenOption.WRITE)) {
            long lba = 64;
            for (int content = 1; content <= 3; content++) {
                assertThat(read(device, lba)).isEqualTo((byte) (content - 1));
                byte[] block = new byte[512];
                Arrays.fill(block, (byte) content);
                assertThat(otherHost.write(ByteBuffer.wrap(block), lba * 512)).isEqualTo(512);
                if (io == FileOptions.Io.BUFFERED) {
                    assertThat(read(device, lba)).as("cached").isEqualTo((byte) (content - 1));
                }
                if (content == 3) {
                    device.write(lba + 1, MemorySegment.ofArray(block)); // the page is dirty
                    device.forget(0, device.blockCount());
                    assertThat(read(device, lba + 1)).isEqualTo((byte) content);
                } else {
                    device.forget(lba, 1);
                    assertThat(read(device, lba)).isEqualTo((byte) content);
                }
            }
        }
    }

    private static byte read(FileDevice device, long lba) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(512, 4096);
            device.read(lba, block);
            return block.get(ValueLayout.JAVA_BYTE, 511);
        }
    }

    @Test
    void shouldCompareForAllHostsIfNoOtherCanWrite(@TempDir Path folder) throws Exception {
        try (FileDevice file = FileDevice.open(Files.write(folder.resolve("file"), new byte[4096]),
                FileOptions.BUFFERED)) {
            assertThat(file.comparesForAllHosts()).isTrue();
        }
        try (LoopDisk disk = LoopDisk.over(folder.resolve("image"), 16 << 20);
                FileDevice device = DiskDevice.open(disk.device(), DIRECT)) {
            assertThat(device.comparesForAllHosts()).isFalse();
        }
    }

    @Test
    void shouldRejectADiskThatIsMounted(@TempDir Path folder) throws Exception {
        try (LoopDisk disk = LoopDisk.over(folder.resolve("image"), 16 << 20)) {
            Path mount = Files.createDirectory(folder.resolve("mount"));
            LoopDisk.run(List.of("mkfs.ext4", "-q", disk.device().toString()));
            LoopDisk.run(List.of("mount", disk.device().toString(), mount.toString()));
            try {
                assertThatThrownBy(() -> DiskDevice.open(disk.device(), DIRECT))
                        .isInstanceOf(BusyException.class).hasMessageContaining("mounted");
                DiskDevice.open(disk.device(), DIRECT.withReadOnly(true)).close();
            } finally {
                LoopDisk.run(List.of("umount", mount.toString()));
            }
        }
    }

    @Test
    void shouldRejectToWriteAWriteProtectedDisk(@TempDir Path folder) throws Exception {
        try (LoopDisk disk = LoopDisk.writeProtected(folder.resolve("image"), 16 << 20)) {
            assertThatThrownBy(() -> DiskDevice.open(disk.device(), DIRECT))
                    .isInstanceOf(WriteProtectedException.class)
                    .hasMessageContaining("read-only=true");
            try (BlockDevice device = DiskDevice.open(disk.device(), DIRECT.withReadOnly(true))) {
                assertThat(device.readOnly()).isTrue();
                assertThat(device.sizeBytes()).isEqualTo(16 << 20);
            }
        }
    }

    @Test
    void shouldReportInvalidDiskInOneLine(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> DiskDevice.open(file, DIRECT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not a disk").hasMessageNotContaining("\n");
        assertThatThrownBy(() -> DiskDevice.open(folder.resolve("none"), DIRECT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no such disk");
    }
}
