package lunar.raid.metadata;

import java.util.UUID;
import lunar.block.StorageException;
import lunar.raid.metadata.page.MemberSet;
import org.jspecify.annotations.Nullable;

/** Hears of failures before the volume does: a member may fail before the volume knows that it has come. */
final class FaultDispatcher implements MemberSet.Faults {
    private final FaultListener faults;
    /** Null while the volume is being opened. */
    volatile @Nullable VolumeMetadata metadata;

    FaultDispatcher(FaultListener faults) { this.faults = faults; }

    @Override
    public void failed(int slot, StorageException why) {
        VolumeMetadata there = metadata;
        if (there != null) {
            there.incomingFailed(slot);
        }
        faults.failed(slot, why);
    }

    /** A spare did not take its superblock; that matters where it is being taken. */
    void spareFailed(UUID spare, StorageException why) {
        VolumeMetadata there = metadata;
        int slot = there == null ? -1 : there.slotOf(spare);
        if (slot >= 0) {
            failed(slot, why);
        }
    }
}
