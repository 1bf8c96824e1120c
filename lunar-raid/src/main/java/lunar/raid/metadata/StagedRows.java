package lunar.raid.metadata;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.block.BlockDevice;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.journal.NoSpaceAtStart;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * Brings rows in place that a crash has left staged: each member copies its part, which is all that belongs there, with
 * its redundancy. It may be done any number of times. Blocks.
 */
final class StagedRows {
    private StagedRows() {}

    /**
     * Brings staged rows in place, where there are any.
     *
     * @param inSync slots of the members that have all data, as bits: others are rebuilt
     * @return the volume with these rows in place; stable before it is noted
     * @throws NoSpaceException where a member has no space for its part: the rows stay staged
     * @throws StorageException where a member fails, which is reported, and is to be left out then: the others have
     *         what it should have
     */
    static VolumeRecord bringInPlace(VolumeRecord volume, MemberSet members, long inSync,
            BadBlocks badBlocks) throws StorageException {
        ReshapeRecord reshape = volume.reshape();
        if (reshape == null || reshape.stagedRows() == 0) {
            return volume;
        }
        VolumeDescription what = volume.description();
        long chunkBytes = volume.shape().chunkBytes();
        long length = reshape.stagedRows() * chunkBytes;
        MemorySegment rows = Arena.ofAuto().allocate(length, Page.BYTES);
        for (long left = inSync & members.active(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            BlockDevice device = members.device(slot);
            if (device != null) {
                try {
                    ChunkedTransfer.read(device, what.layout().stagingBytes(), rows);
                    ChunkedTransfer.write(device,
                            what.layout().dataBytes() + reshape.rows() * chunkBytes, rows);
                    device.flush();
                } catch (NoSpaceException e) {
                    throw NoSpaceAtStart.of(volume, slot, "rows that a reshape has staged", e);
                } catch (StorageException e) {
                    members.report(slot, e);
                    throw e;
                }
            }
        }
        long end = reshape.rows() + reshape.stagedRows();
        badBlocks.removeBlocksNow(reshape.rows() * what.chunkBlocks(), end * what.chunkBlocks());
        return volume.withReshape(reshape.moved(end));
    }
}
