package lunar.raid.metadata.journal;

import java.util.ArrayDeque;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.metadata.journal.JournalFormat.Kind;
import lunar.raid.metadata.page.Broadcast;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.page.Waiter;
import lunar.raid.metadata.page.WaiterQueue;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * A section of a {@link VolumeJournal}: its own ring, page, numbers and tail, on one member more than the level can
 * lose. Stripes of other sections are none of its business.
 *
 * <p><b>Order.</b> The caller holds the lock of an entry's stripe from {@link #append} until the writes in place are
 * done, and says so by {@link #written}. An entry is freed when its writes are stable, that is, after a flush of all
 * members that began later; then its space in the ring may be used again. Data for a stripe that was noted wait until
 * the note is free, since its checksums would be wrong then. They also wait for an entry whose writes were put back:
 * replayed beneath theirs it would change what their parity was computed from.
 *
 * <p><b>Lost writes.</b> When members have lost what was in place, and the volume goes on, the same is true of all
 * entries so far: others wait until these are free. They become free only when a resync is noted, since without them a
 * crash would leave nothing else that restores their stripes.
 *
 * <p><b>Group commit.</b> Entries that come while one write is under way go out together in the next one, which is
 * stable on all copies before any of them is told. Nothing is allocated but for new sizes of a batch.
 */
public final class StripeJournal {
    /** The progress of a member that gets copies. */
    private enum Join {
        NONE,
        /** Entries are live that it has not. */
        WAITING,
        /** Its page is being written. */
        TOLD,
        DONE
    }

    /** Waits until no entry before this number is replayed any more. */
    private record Drain(long sequence, Runnable done) {}

    /** Bytes that the batches of all sections may take; each section has two. */
    private static final int MAX_BATCHES_BYTES = 32 << 20;

    private final MemberSet holders;
    private final JournalFlush flush;
    private final UUID key;
    private final long ringAtBytes;
    private final long ringBytes;
    private final long mostBytes;
    private final int batchBytes;
    private final Broadcast writer;
    private final PageWriter page;
    private final Broadcast.Preparation preparation = this::prepare;
    private final Waiter pageWaiter = new Waiter() {
        @Override
        public void stable(@Nullable StorageException failure) { advance(); }
    };

    /** Slots of the holders that have copies, as bits. */
    private long copies;
    private final WaiterQueue arrivals = new WaiterQueue();
    private final WaiterQueue ready = new WaiterQueue();
    private @Nullable StorageException failure;
    private JournalBatch filling;
    private JournalBatch flying;
    private boolean draining;
    private boolean isWriting;
    private boolean isWritten;
    private boolean isPageWanted;
    private boolean isBlocked;
    /** The first flush that makes stable what was in place when it was asked for last; 0 before that. */
    private long flushDue;

    private final LiveEntries live;
    /** Positions count on for ever; their offset in the ring is the remainder. */
    private long head;
    /** The tail that the stable page names: from here on nothing may be written over. */
    private long kept;
    private long keptSequence;
    private long pageTail;
    private long pageTailSequence;

    private final ArrayDeque<Drain> drains = new ArrayDeque<>();
    private Join join = Join.NONE;
    private Runnable joined = () -> {};
    private long joinSequence;

    /**
     * Creates a section that begins at the tail that its page names, with nothing in it.
     *
     * @param holders the devices with copies: the members, or a set with a device of its own
     * @param copies slots of the holders that have copies, as bits
     * @param flush what makes entries free
     */
    StripeJournal(VolumeRecord volume, int section, MemberSet holders, long copies,
            JournalFlush flush, long position, long sequence) {
        if (position % JournalFormat.WRITE_BYTES != 0) {
            throw new IllegalArgumentException("writes do not begin at " + position);
        }
        VolumeDescription what = volume.description();
        this.holders = holders;
        this.copies = copies;
        this.flush = flush;
        key = what.journalKey();
        ringAtBytes = what.layout().sectionBytes(section) + JournalFormat.RING_AT;
        ringBytes = what.layout().ringBytes();
        mostBytes = Math.min(maxEntryBytes(what.layout().journalSections()),
                ringBytes / JournalFormat.RING_BATCHES);
        batchBytes = batchBytes(copies);
        filling = new JournalBatch(batchBytes, key);
        flying = new JournalBatch(batchBytes, key);
        live = new LiveEntries(position, sequence);
        head = position;
        kept = position;
        keptSequence = sequence;
        filling.reset(position % ringBytes);
        writer = Broadcast.over(holders, this::batchWritten);
        page = new PageWriter(this, holders, () -> this.copies, location(volume, section), false,
                new Tail());
        holders.onDrop(this::dropped);
        holders.onChange(this::advance);
    }

    private void dropped(int slot) {
        synchronized (this) {
            copies &= ~(1L << slot);
        }
    }

    /** The longest entry that a section of so many takes, where ring and members let it. */
    public static int maxEntryBytes(int sections) {
        return Math.min(JournalFormat.MAX_ENTRY_BYTES, MAX_BATCHES_BYTES / sections);
    }

    static PageWriter.Location location(VolumeRecord volume, int section) {
        VolumeDescription what = volume.description();
        return new PageWriter.Location("journal", JournalFormat.PAGE_MAGIC,
                JournalFormat.FORMAT_VERSION, what.uuid(), what.layout().sectionBytes(section));
    }

    /** Returns the bytes that all of these slots take in one write. */
    private int batchBytes(long slots) {
        long bytes = mostBytes;
        for (long left = slots; left != 0; left &= left - 1) {
            BlockDevice device = holders.device(Long.numberOfTrailingZeros(left));
            if (device != null) {
                bytes = Math.min(bytes,
                        (long) device.limits().maxTransferBlocks() * device.blockSize());
            }
        }
        return (int) (bytes / JournalFormat.WRITE_BYTES * JournalFormat.WRITE_BYTES);
    }

    /** The page that names the tail. */
    private final class Tail implements PageWriter.Content {
        @Override
        public void begin() {
            pageTail = live.tailPosition();
            pageTailSequence = live.tail();
        }

        @Override
        public void fill(int slot, Page to) {
            fillPage(to, key, ringBytes, pageTail % ringBytes, pageTailSequence);
        }

        @Override
        public void end(boolean stable) {
            isPageWanted = false;
            if (stable) {
                kept = pageTail;
                keptSequence = pageTailSequence;
                join = join == Join.TOLD ? Join.DONE : join;
            } else {
                failure = gone();
                ready.takeAll(arrivals);
            }
        }
    }

    static void fillPage(Page to, UUID key, long ringBytes, long tailPosition, long tailSequence) {
        Page.putUuid(to.bytes(), JournalFormat.PAGE_KEY, key);
        to.bytes().putLong(JournalFormat.PAGE_RING_BYTES, ringBytes)
                .putLong(JournalFormat.PAGE_TAIL_POSITION, tailPosition)
                .putLong(JournalFormat.PAGE_TAIL_SEQUENCE, tailSequence);
    }

    /** The page writer, before anything is written: it must learn of the pages that are there. */
    PageWriter page() {
        return page;
    }

    /** Bytes of data that an entry of so many extents may have. */
    int maxDataBytes(int extents) {
        return batchBytes - JournalFormat.headBytes(extents);
    }

    /**
     * Makes an entry stable on all copies, and then tells it. Content of the entry is read until it is told.
     *
     * @throws IllegalArgumentException where the entry is too long or has nothing in it
     */
    void append(JournalEntry entry) {
        if (entry.lengthBytes() > batchBytes || entry.extents() == 0) {
            throw new IllegalArgumentException("an entry of " + entry.extents() + " extents and "
                    + entry.lengthBytes() + " bytes; at most " + batchBytes + " are possible");
        }
        synchronized (this) {
            arrivals.add(entry);
        }
        advance();
    }

    /** The writes in place of an entry have all ended well; see {@link VolumeJournal#written}. */
    void written(JournalEntry entry, boolean isStable) {
        synchronized (this) {
            live.written(entry.sequence(), isStable ? 0 : flush.next());
            live.free(flush.ended());
        }
        advance();
    }

    /** The writes in place of an entry have been put back, as far as that was possible; see {@link #written}. */
    void undone(JournalEntry entry) {
        synchronized (this) {
            live.undone(entry.sequence());
        }
        written(entry, false);
    }

    /** Members have lost what was in place and not flushed; see {@link VolumeJournal#lost}. */
    synchronized void lost() {
        live.lost();
    }

    /** It is stable that the stripes concerned are to be compared. */
    void lossNoted() {
        synchronized (this) {
            live.lossNoted();
            live.free(flush.ended());
        }
        advance();
    }

    /** A flush has ended. */
    void flushed() {
        synchronized (this) {
            live.free(flush.ended());
        }
        advance();
    }

    /** Time has passed: what was written in place is made stable and free. */
    void tick() {
        synchronized (this) {
            flushDue = flush.next();
        }
        advance();
    }

    /** Entries that are not free. */
    synchronized long live() { return live.count(); }

    /**
     * Gives copies to a member, in place of one that was dropped; its metadata area is blank.
     *
     * @param done told when the section is as good on it as on the others
     */
    void join(int slot, Runnable done) {
        synchronized (this) {
            // Else it was dropped meanwhile, and the next device in its slot has no copy yet.
            copies |= holders.active() & 1L << slot;
            join = Join.WAITING;
            joined = done;
            joinSequence = live.next();
        }
        advance();
    }

    /** Calls back when no entry that is live now would be replayed after a crash. */
    void drain(Runnable done) {
        synchronized (this) {
            drains.add(new Drain(live.next(), done));
        }
        advance();
    }

    /** The slots that have copies, as bits. */
    public synchronized long copies() {
        return copies & holders.active();
    }

    private void advance() {
        synchronized (this) {
            if (draining) {
                return;
            }
            draining = true;
        }
        boolean more = true;
        while (more) {
            more = step();
        }
    }

    private enum Action {
        NONE, TELL, WRITE, FLUSH, PAGE, JOINED, DRAINED
    }

    private boolean step() {
        Waiter told = null;
        StorageException why;
        Action action;
        Runnable whoJoined;
        synchronized (this) {
            if (isWritten) {
                endBatch();
            }
            boolean isOver = holders.isAbandoned() || copies() == 0;
            if (isOver) {
                failure = gone();
                ready.takeAll(arrivals);
            }
            why = failure;
            whoJoined = joined;
            action = Action.NONE;
            if (!ready.isEmpty()) {
                told = ready.poll();
                action = Action.TELL;
            } else {
                take();
                if (!isWriting && !filling.isEmpty()) {
                    sendBatch();
                    action = Action.WRITE;
                } else if (!isOver && isFlushNeeded()) {
                    action = Action.FLUSH;
                } else if (!isOver && isPageNeeded()) {
                    isPageWanted = true;
                    if (join == Join.WAITING && live.tail() >= joinSequence) {
                        join = Join.TOLD;
                    }
                    page.join(pageWaiter);
                    action = Action.PAGE;
                } else if (join == Join.DONE) {
                    join = Join.NONE;
                    action = Action.JOINED;
                } else if (isDrained()) {
                    whoJoined = drains.remove().done();
                    action = Action.DRAINED;
                } else {
                    draining = false;
                    return false;
                }
            }
        }
        switch (action) {
            case TELL -> {
                if (told != null) {
                    told.stable(why);
                }
            }
            case WRITE -> writer.start(copies(), preparation);
            case FLUSH -> flush.start();
            case PAGE -> page.advance();
            case JOINED, DRAINED -> whoJoined.run();
            case NONE -> throw new AssertionError();
        }
        return true;
    }

    /** Puts what has arrived into the batch, as long as there is room. */
    private void take() {
        isBlocked = false;
        while (arrivals.first() instanceof JournalEntry entry) {
            if (!filling.hasRoom(entry.lengthBytes())) {
                return;
            }
            long atEnd = ringBytes - head % ringBytes;
            boolean pad = roundedUp(entry.lengthBytes()) > atEnd;
            long needed = roundedUp(entry.lengthBytes()) + (pad ? atEnd : 0);
            isBlocked = head + needed - kept > ringBytes
                    || live.next() + 2 - keptSequence > JournalFormat.MAX_ENTRIES
                    || live.hasLost()
                    || (entry.kind() == Kind.DATA && live.isBarred(entry.stripe()));
            if (isBlocked) {
                return;
            }
            if (pad) {
                if (filling.hasRoom(JournalFormat.headBytes(0))) {
                    pad((int) atEnd);
                }
                return;
            }
            arrivals.poll();
            entry.sequence(live.next());
            filling.add(entry, live.tail(), live.tailPosition() % ringBytes);
            head += entry.lengthBytes();
            live.add(entry.kind(), entry.stripe(), head);
        }
    }

    /** The rest of the ring is left empty; the batch goes out as it is. */
    private void pad(int bytes) {
        filling.addPad(live.next(), live.tail(), live.tailPosition() % ringBytes, bytes);
        head += bytes;
        live.add(Kind.PAD, 0, head);
    }

    /** Returns the bytes that an entry takes at most, be it the last of its batch. */
    private static long roundedUp(int bytes) {
        return (long) Math.ceilDiv(bytes, JournalFormat.WRITE_BYTES) * JournalFormat.WRITE_BYTES
                + JournalFormat.WRITE_BYTES;
    }

    private void sendBatch() {
        head += filling.seal();
        live.extend(head);
        JournalBatch sent = filling;
        filling = flying;
        flying = sent;
        filling.reset(head % ringBytes);
        isWriting = true;
    }

    private void prepare(int slot, BlockDevice device, BlockRequest request) {
        flying.prepare(device, ringAtBytes, request);
    }

    private void batchWritten() {
        synchronized (this) {
            isWritten = true;
        }
        advance();
    }

    private void endBatch() {
        isWritten = false;
        isWriting = false;
        failure = writer.succeeded() == 0 ? gone() : null;
        if (writer.hasLostBuffers()) {
            flying.replaceBuffer();
        }
        ready.takeAll(flying.entries());
    }

    /** A flush helps only where the first entry that is not free has been written in place. */
    private boolean isFlushNeeded() {
        return flush.canStart() && live.waitsForFlush()
                && (isBlocked || isFlushDue() || join == Join.WAITING || isDraining()
                        || head - live.tailPosition() > ringBytes / 2
                        || live.count() > JournalFormat.MAX_ENTRIES / 2);
    }

    private boolean isFlushDue() { return flushDue == flush.next(); }

    private boolean isPageNeeded() {
        if (isPageWanted) {
            return false;
        }
        return (join == Join.WAITING && live.tail() >= joinSequence)
                || (isDraining() && live.tail() > keptSequence)
                || (live.tail() > keptSequence && (isBlocked || head - kept > ringBytes / 2
                        || live.next() - keptSequence > JournalFormat.MAX_ENTRIES / 2));
    }

    private boolean isDraining() { return !drains.isEmpty(); }

    /** Whether the first drain is over; where the journal is gone, it is. */
    private boolean isDrained() {
        return isDraining() && (failure != null || keptSequence >= drains.element().sequence());
    }

    private DeviceGoneException gone() { return holders.gone("journal"); }
}
