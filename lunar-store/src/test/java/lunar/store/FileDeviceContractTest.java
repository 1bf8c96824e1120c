package lunar.store;

import java.nio.file.Path;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract on files, with each I/O path. */
class FileDeviceContractTest {
    @Nested
    class Buffered extends OnFile {
        Buffered() { super(FileOptions.BUFFERED); }
    }

    @Nested
    class BufferedWithLargeBlocks extends OnFile {
        BufferedWithLargeBlocks() { super(FileOptions.BUFFERED.withBlockSize(4096)); }
    }

    @Nested
    class Sendfile extends OnFile {
        Sendfile() { super(FileOptions.BUFFERED.withIo(FileOptions.Io.SENDFILE)); }
    }

    @Nested
    class Mapped extends OnFile {
        Mapped() { super(FileOptions.BUFFERED.withIo(FileOptions.Io.MAPPED)); }
    }

    @Nested
    class Sync extends OnFile {
        Sync() { super(FileOptions.BUFFERED.withIo(FileOptions.Io.SYNC)); }
    }

    @Nested
    class Direct extends OnFile {
        Direct() { super(FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT).withBlockSize(4096)); }
    }

    @Nested
    class DirectWithSmallBlocks extends OnFile {
        DirectWithSmallBlocks() { super(FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT)); }
    }

    @Nested
    class DirectByWorkers extends OnFile {
        DirectByWorkers() {
            super(FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT).withBlockSize(4096)
                    .withRing(false));
        }
    }

    abstract static class OnFile extends BlockDeviceContract {
        @TempDir
        Path folder;
        private final FileOptions options;
        private int files;

        OnFile(FileOptions options) { this.options = options; }

        @Override
        protected BlockDevice create(long blockCount) throws StorageException {
            // Whole blocks of the file system, which direct I/O needs.
            long sizeBytes = (blockCount * options.blockSize() + 4095) / 4096 * 4096;
            return FileDevice.open(folder.resolve("disk" + files++),
                    options.withCreateBytes(sizeBytes));
        }

        @Override
        protected Optional<BlockDevice> reopen(BlockDevice device) throws StorageException {
            device.close();
            return Optional.of(FileDevice.open(folder.resolve("disk" + (files - 1)), options));
        }

        @Override
        protected Optional<BlockDevice> createReadOnly(long blockCount) throws StorageException {
            create(blockCount).close();
            return Optional.of(FileDevice.open(folder.resolve("disk" + (files - 1)),
                    options.withReadOnly(true)));
        }
    }
}
