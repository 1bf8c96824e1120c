package lunar.raid.metadata.journal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import lunar.raid.metadata.page.Broadcast;
import lunar.raid.metadata.page.MemberSet;

/**
 * Flushes of all members, by number in the order in which they begin: those of the volume, and the journal's own. What
 * was written in place when {@link #next} gave a number is stable when the flush of that number, or a later one, has
 * ended well. All sections of a journal share them. For any thread.
 */
final class JournalFlush {
    private final MemberSet members;
    private final Broadcast broadcast;
    private final Runnable told;
    private final AtomicLong next = new AtomicLong(1);
    private final AtomicLong ended = new AtomicLong();
    private final AtomicBoolean isUnderWay = new AtomicBoolean();
    /** The number of the journal's own that is under way. */
    private volatile long own;

    /** @param told after each flush that has ended, without a lock */
    JournalFlush(MemberSet members, Runnable told) {
        this.members = members;
        this.told = told;
        broadcast = Broadcast.over(members, this::broadcasted);
    }

    /** The number of the flush that begins next. */
    long next() { return next.get(); }

    /** The highest number of those that have ended well. */
    long ended() { return ended.get(); }

    /** A flush of the volume begins; its number. */
    long begin() { return next.getAndIncrement(); }

    /** Called when that flush has succeeded on all members that have not failed. */
    void end(long number) {
        ended.accumulateAndGet(number, Math::max);
        told.run();
    }

    /**
     * Whether one of the journal's own can begin; where one is under way, all are told when it has ended. In a volume
     * that has failed none can: it would end at once, and be asked for again.
     */
    boolean canStart() {
        return !isUnderWay.get() && members.active() != 0 && !members.isAbandoned();
    }

    /** Begins one of the journal's own, unless one is under way. */
    void start() {
        if (isUnderWay.compareAndSet(false, true)) {
            own = begin();
            broadcast.start(members.active(), Broadcast.FLUSH);
        }
    }

    private void broadcasted() {
        if (broadcast.succeeded() != 0) {
            ended.accumulateAndGet(own, Math::max);
        }
        isUnderWay.set(false);
        told.run();
    }
}
