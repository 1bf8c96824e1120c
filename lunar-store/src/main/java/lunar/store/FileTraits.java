package lunar.store;

import java.util.EnumSet;
import java.util.Set;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Limits;

/** Capabilities and limits of a file or disk. */
final class FileTraits {
    static final int MAX_TRANSFER_BYTES = 16 << 20;
    static final int MAX_COMPARE_BYTES = 64 << 10;

    private FileTraits() {}

    static Set<Capability> capabilities(FileBlocks blocks, boolean atomic) {
        if (!atomic) {
            return blocks.capabilities();
        }
        Set<Capability> all = EnumSet.of(Capability.ATOMIC_WRITE);
        all.addAll(blocks.capabilities());
        return Set.copyOf(all);
    }

    static Limits limits(Geometry of, Set<Capability> capabilities, FileOptions options,
            FileBlocks blocks) {
        int blockSize = of.blockSize();
        int transferBlocks = MAX_TRANSFER_BYTES / blockSize;
        boolean unmaps = capabilities.contains(Capability.UNMAP);
        return new Limits(transferBlocks, transferBlocks / 16, unmaps ? of.blockCount() : 0,
                unmaps ? of.blockCount() : FileBlocks.MAX_WRITTEN_ZEROES_BYTES / blockSize,
                MAX_COMPARE_BYTES / blockSize,
                capabilities.contains(Capability.ATOMIC_WRITE)
                        ? AtomicLog.MAX_DATA_BYTES / blockSize
                        : 0,
                options.workers(), blocks.alignmentBytes());
    }
}
