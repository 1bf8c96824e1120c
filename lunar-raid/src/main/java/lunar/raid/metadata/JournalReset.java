package lunar.raid.metadata;

import java.util.UUID;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.VolumeDescription;
import org.jspecify.annotations.Nullable;

/**
 * The operator's consent to go on without the journal, which is lost. If the volume was not stopped in order
 * all parity is computed anew from the data; that needs all members.
 *
 * @param device UUID of a device that gets a new journal, which is given with the volume's devices; null where the
 *        volume goes on without a journal, with its bitmap alone
 * @param key a random UUID; looked at only where there is a device
 */
public record JournalReset(@Nullable UUID device, UUID key) {
    /** No journal any more. */
    public static JournalReset withoutJournal() {
        return new JournalReset(null, MemberRecord.NIL_UUID);
    }

    /** A new journal on a device of its own. */
    public static JournalReset to(UUID device, UUID key) {
        return new JournalReset(device, key);
    }

    VolumeDescription applyTo(VolumeDescription what) {
        MetadataLayout old = what.layout();
        var layout = new MetadataLayout(old.bitmapBytes(), old.badBlocksBytes(), 0,
                device == null ? 0 : old.journalLengthBytes(), device == null ? 0 : 1,
                old.checksumsBytes(),
                old.dataBytes());
        return new VolumeDescription(what.uuid(), what.name(), what.createdMs(), what.level(),
                what.blockSize(), what.chunkBlocks(), what.slots(), what.volumeBlocks(),
                device == null ? Consistency.BITMAP : Consistency.JOURNAL, what.regionStripes(),
                device == null ? MemberRecord.NIL_UUID : key, device, layout);
    }
}
