package lunar.raid.metadata;

import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.journal.VolumeJournal;
import org.jspecify.annotations.Nullable;

/**
 * Gives a member what those that are in sync have: the pages as they are now, and the journal where copies are missing.
 * Before that it must not be noted as ACTIVE, since then its word counts.
 */
final class MetadataSync {
    /** Called when the member has all metadata, or has failed. */
    public interface End {
        void joined(MetadataSync joining);
    }

    private final int slot;
    private final BadBlocks badBlocks;
    private final @Nullable IntentBitmap bitmap;
    private final @Nullable VolumeJournal journal;
    private final End end;

    /** @param journal null where there is none */
    MetadataSync(int slot, BadBlocks badBlocks, @Nullable IntentBitmap bitmap,
            @Nullable VolumeJournal journal, End end) {
        this.slot = slot;
        this.badBlocks = badBlocks;
        this.bitmap = bitmap;
        this.journal = journal;
        this.end = end;
    }

    int slot() { return slot; }

    void start() {
        badBlocks.write(() -> {
            if (bitmap == null) {
                joinJournal();
            } else {
                bitmap.write(this::joinJournal);
            }
        });
    }

    private void joinJournal() {
        if (journal == null) {
            end.joined(this);
            return;
        }
        journal.join(slot, () -> end.joined(this));
    }
}
