package lunar.raid;

import lunar.block.BlockDevice;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Makes a crash in the middle of a stripe's change harmless: a write-intent bitmap, a journal. Called before the first
 * member is written, and after the last. Only levels with redundancy use it.
 *
 * <p>Calls come from any thread, for many stripes concurrently, for each stripe one at a time. They must not block.
 */
public interface WriteGuard {
    /** Guards nothing: after a crash every stripe may be half written. */
    WriteGuard NONE = new WriteGuard() {
        @Override
        public void begin(StripeChange change, Ready ready) { ready.ready(null); }

        @Override
        public void end(StripeChange change, boolean written) {}
    };

    /** Called when the change may be written in place: once, by any thread, possibly before {@link #begin} returns. */
    @FunctionalInterface
    interface Ready {
        /** @param failure why nothing may be written; null if the change may be */
        void ready(@Nullable StorageException failure);
    }

    /**
     * Returns the bytes of the largest change that is not a full stripe, over all its member writes; larger ones come
     * in parts. At least a block for each unit of a stripe. Constant.
     */
    default int maxBytes() { return Integer.MAX_VALUE; }

    /**
     * Called before a stripe is changed. The change and its data stay as they are until {@link #end}.
     */
    void begin(StripeChange change, Ready ready);

    /**
     * Called when the members have completed a change that {@link #begin} has allowed; it is stable after their next
     * flush, or at once if it was forced ({@link StripeChange#fua}).
     *
     * @param written whether all of it is in place, except on slots that have failed; otherwise parts may be
     */
    void end(StripeChange change, boolean written);

    /**
     * Called if members had no space for a change, before its {@link #end}, or if a resync could not restore a stripe:
     * the redundancy of some stripes is wrong until {@link #resynced}, even after a restart.
     *
     * @param ready called when that is stable
     */
    default void halfWritten(Ready ready) { ready.ready(null); }

    /**
     * Called before a resync restores stripes: a slot that is out, or that fails meanwhile, gets all of them when its
     * member comes back.
     *
     * @param ready called when that is stable
     */
    default void beginResync(long firstStripe, long stripeCount, Ready ready) {
        ready.ready(null);
    }

    /** Called when these stripes have been restored; they are stable after the next flush of all members. */
    default void endResync(long firstStripe, long stripeCount) {}

    /**
     * Called when stripes that were half written have been resynced, and that is stable.
     *
     * @param left stripes that still are half written, or are again; a view
     */
    default void resynced(StripeSet left) {}

    /**
     * Called when a flush of all members begins, before the members are determined.
     *
     * @return the mark to pass to {@link #endFlush}
     */
    default long beginFlush() { return 0; }

    /** Called when that flush has succeeded on all members that have not failed: what preceded it is stable. */
    default void endFlush(long begun) {}

    /**
     * Called when members have lost acknowledged writes, and the volume goes on with what they have; before requests
     * see that. Changes that begin from then on wait until what is logged of earlier ones will not be replayed.
     *
     * @return the stripes written since the last flush of all members, in which redundancy may be wrong; they stay
     *         marked until they have been compared
     */
    default StripeSet suspect() { return StripeSet.ALL; }

    /** Called once for each {@link #suspect}, when it is stable that these stripes are to be compared. */
    default void suspectKept() {}

    /** Sends metadata requests that failed because of such a loss again. */
    default void goOnAfterLoss() {}

    /** Called when the volume has failed a member that lost writes: metadata for all members no longer wait for it. */
    default void failedAfterLoss(int slot) {}

    /**
     * Called when the volume takes no writes any more, since it has lost more than it survives, or is closed: nothing
     * more is made stable, and callers that wait for that are told so. By any thread, possibly more than once.
     */
    default void abandon(StorageException why) {}

    /** Advances the time (the tick of the volume): a guard that waits for members looks for those that stall. */
    default void watch() {}

    /** Returns the device that the volume is to use for one that comes into a slot: the same, or a wrapper. */
    default BlockDevice member(BlockDevice device) {
        return device;
    }

    /**
     * Called before a slot gets its content anew, or redundancy is restored or repaired: what is logged of changes that
     * have ended must not be replayed after that, since it may be older.
     *
     * @param done called once, by any thread, possibly before this method returns
     */
    default void settle(Runnable done) { done.run(); }
}
