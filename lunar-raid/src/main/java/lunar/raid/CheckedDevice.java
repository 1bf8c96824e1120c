package lunar.raid;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;

/** A member that keeps checksums of its blocks, so that it can tell whether what it reads is what was written. */
public interface CheckedDevice extends BlockDevice {
    /**
     * Queues a read that fails with a {@link lunar.block.MediumException} where a block is not what was written last.
     * Of a block whose checksum is not known it is known afterwards: so nothing may be writing it meanwhile.
     */
    void submitChecked(BlockRequest read);
}
