package lunar.raid;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;

/** A member that keeps checksums of its blocks, so that it can tell whether what it reads is what was written. */
public interface CheckedDevice extends BlockDevice {
    /**
     * Queues a read that fails with a {@link lunar.block.MediumException} if a block is not what was written last. The
     * read establishes the checksum of a block that has none yet, so nothing may write that block meanwhile.
     */
    void submitChecked(BlockRequest read);
}
