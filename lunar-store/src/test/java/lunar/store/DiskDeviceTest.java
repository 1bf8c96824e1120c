package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
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
