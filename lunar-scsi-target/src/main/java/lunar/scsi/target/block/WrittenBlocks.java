package lunar.scsi.target.block;

import lunar.block.BlockDevice;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.FormatUnit;
import lunar.scsi.block.OrWrite;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.UnmapParameterList;
import lunar.scsi.block.WriteAndVerify;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.block.WriteSame;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.copy.RodTokens;

/** Determines the blocks that a command will change, whose ROD tokens are revoked before it is executed. */
final class WrittenBlocks {
    private WrittenBlocks() {}

    static void revokeTokens(RodTokens tokens, BlockDevice store, ScsiTask task) {
        Cdb cdb = task.cdb();
        switch (cdb) {
            case WriteBlocks write -> tokens.written(store, write.lba(), write.blockCount());
            case WriteAndVerify write -> tokens.written(store, write.lba(), write.blockCount());
            case WriteAtomic write -> tokens.written(store, write.lba(), write.blockCount());
            case OrWrite write -> tokens.written(store, write.lba(), write.blockCount());
            case CompareAndWrite write -> tokens.written(store, write.lba(), write.blockCount());
            case WriteSame same -> tokens.written(store, same.lba(),
                    same.blockCount() == 0 ? store.blockCount() : same.blockCount());
            case Unmap _ -> unmapped(tokens, store, task);
            case Sanitize _,FormatUnit _ -> tokens.written(store, 0, store.blockCount());
            default -> {
            } // copies revoke tokens themselves, for each piece
        }
    }

    private static void unmapped(RodTokens tokens, BlockDevice store, ScsiTask task) {
        try {
            for (UnmapParameterList.Range range : UnmapParameterList.decode(task.dataOut(),
                    ProvisioningCommands.MAX_UNMAP_DESCRIPTORS, Long.MAX_VALUE).ranges()) {
                tokens.written(store, range.lba(), range.blockCount());
            }
        } catch (InvalidParameterListException _) { // the command itself rejects it
        }
    }
}
