package lunar.raid.metadata;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.page.MemberSet;
import org.jspecify.annotations.Nullable;

/** Members that get what those that are in sync have, one after the other. Any thread. */
final class MetadataSyncQueue {
    private final MemberSet members;
    private final BadBlocks badBlocks;
    private final @Nullable IntentBitmap bitmap;
    private final @Nullable VolumeJournal journal;
    /** The first one is at it. Guarded by this, as all below. */
    private final Deque<MetadataSync> line = new ArrayDeque<>();
    /** By slot, the latest sync. */
    private final @Nullable MetadataSync[] latest;
    /** Slots of the members that have joined, as bits. */
    private long joined;
    /** By slot, the callbacks that wait for its member to join. */
    private final Map<Integer, List<Runnable>> waiting = new HashMap<>();

    MetadataSyncQueue(MemberSet members, BadBlocks badBlocks, @Nullable IntentBitmap bitmap,
            @Nullable VolumeJournal journal) {
        this.members = members;
        this.badBlocks = badBlocks;
        this.bitmap = bitmap;
        this.journal = journal;
        latest = new @Nullable MetadataSync[members.slots()];
    }

    /** The member of a slot, which gets all writes from now on, shall get the rest. */
    void join(int slot) {
        var one = new MetadataSync(slot, badBlocks, bitmap, journal, this::ended);
        boolean isFirst;
        synchronized (this) {
            isFirst = line.isEmpty();
            line.add(one);
            latest[slot] = one;
        }
        if (isFirst) {
            one.start();
        }
    }

    private void ended(MetadataSync one) {
        int slot = one.slot();
        List<Runnable> told = null;
        MetadataSync next;
        synchronized (this) {
            if (one.equals(latest[slot])) {
                joined |= members.active() & 1L << slot;
            }
            if (hasJoined(slot)) {
                told = waiting.remove(slot);
            }
            line.poll();
            next = line.peek();
        }
        if (told != null) {
            told.forEach(Runnable::run);
        }
        if (next != null) {
            next.start();
        }
    }

    private boolean hasJoined(int slot) { return (joined & 1L << slot) != 0; }

    /** The member of a slot is gone, or another one is coming. */
    synchronized void forget(int slot) {
        joined &= ~(1L << slot);
    }

    /** Calls back when the member of a slot has it all; never where it fails before. */
    void whenJoined(int slot, Runnable told) {
        synchronized (this) {
            if (!hasJoined(slot)) {
                waiting.computeIfAbsent(slot, _ -> new ArrayList<>()).add(told);
                return;
            }
        }
        told.run();
    }
}
