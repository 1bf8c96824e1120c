package lunar.raid.metadata;

import lunar.block.StorageException;
import lunar.raid.StripeChange;
import lunar.raid.WriteGuard.Ready;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.journal.VolumeJournal;
import org.jspecify.annotations.Nullable;

/** The intent and the journal entry of a stripe's change; reusable. */
final class GuardedChange {
    private final Intent intent = new Intent((_, failure) -> arrived(failure));
    private final JournalEntry entry;
    /** Guarded by this, as the next two. */
    private int waiting;
    private @Nullable StorageException failure;
    private @Nullable Ready ready;

    GuardedChange(int blockSize) { entry = new JournalEntry(blockSize, (_, why) -> arrived(why)); }

    void begin(StripeChange change, Ready whenReady, @Nullable IntentBitmap bitmap,
            @Nullable VolumeJournal journal) {
        synchronized (this) {
            waiting = journal == null ? 1 : 2;
            failure = null;
            ready = whenReady;
        }
        if (journal != null) {
            fill(change);
            journal.append(entry);
        }
        if (bitmap == null || bitmap.begin(intent.over(change.stripe(), 1))) {
            arrived(null);
        }
    }

    void end(StripeChange change, @Nullable IntentBitmap bitmap,
            @Nullable VolumeJournal journal) {
        if (bitmap != null) {
            bitmap.end(intent);
        }
        if (journal != null && change.isUndone()) {
            journal.undone(entry);
        } else if (journal != null) {
            journal.written(entry, change.fua());
        }
    }

    private void arrived(@Nullable StorageException why) {
        Ready told = null;
        StorageException all;
        synchronized (this) {
            waiting--;
            failure = failure == null ? why : failure;
            all = failure;
            if (waiting == 0) {
                told = ready;
                ready = null;
            }
        }
        if (told != null) {
            told.ready(all);
        }
    }

    private void fill(StripeChange change) {
        if (change.isFullStripe()) {
            entry.asNote(change.stripe());
        } else {
            entry.asData(change.stripe());
        }
        for (int i = 0; i < change.writes(); i++) {
            entry.add(change.slot(i), change.memberBlock(i), change.data(i));
        }
    }
}
