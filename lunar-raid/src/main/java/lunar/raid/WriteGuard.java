package lunar.raid;

import lunar.block.BlockDevice;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that a crash in the middle of a stripe's change does no harm: a write-intent bitmap, a journal. It is
 * asked before the first member is written, and told after the last. Only levels with redundancy ask.
 *
 * <p>Calls come from any thread, for many stripes at once, for one stripe at a time. They must not block.
 */
public interface WriteGuard {
    /** Guards nothing: after a crash every stripe may be half written. */
    WriteGuard NONE = new WriteGuard() {
        @Override
        public void begin(StripeChange change, Ready ready) { ready.ready(null); }

        @Override
        public void end(StripeChange change, boolean written) {}
    };

    /** Told when the change may go in place. Called once, by any thread, also before {@link #begin} returns. */
    @FunctionalInterface
    interface Ready {
        /** @param failure why nothing must be written; null where it may be */
        void ready(@Nullable StorageException failure);
    }

    /**
     * Bytes of the largest change that is not a full stripe, over all its member writes; larger ones come in parts. At
     * least a block for each unit of a stripe. Always the same.
     */
    default int maxBytes() { return Integer.MAX_VALUE; }

    /**
     * A stripe is about to be changed. What the change says, and its data, stay as they are until {@link #end}.
     */
    void begin(StripeChange change, Ready ready);

    /**
     * The members have taken the change, for which {@link #begin} has said that it may go in place; whether it is
     * stable is known after their next flush, or at once where it was forced ({@link StripeChange#fua}).
     *
     * @param written whether all of it is in place, but for slots that have failed; otherwise parts may be
     */
    void end(StripeChange change, boolean written);

    /**
     * Comes before {@link #end} where members had no space, so that some have the change and others do not: the
     * stripe's redundancy is wrong until {@link #resynced}, also after a crash.
     *
     * @param ready told when that is stable
     */
    default void halfWritten(StripeChange change, Ready ready) { ready.ready(null); }

    /**
     * Stripes that were half written have been put right, and that is stable.
     *
     * @param left stripes that still are half written, or are again; a view
     */
    default void resynced(StripeSet left) {}

    /**
     * A flush of all members begins, before anybody is asked which these are.
     *
     * @return what {@link #endFlush} is to be told
     */
    default long beginFlush() { return 0; }

    /** That flush has ended well on all members that have not failed: what was in place when it began is stable. */
    default void endFlush(long begun) {}

    /**
     * Members have kept less than they acknowledged, and the volume goes on with what they have.
     *
     * @return the stripes written since the last flush of all members, in which redundancy may be wrong; they stay
     *         marked until they have been compared
     */
    default StripeSet suspect() { return StripeSet.ALL; }

    /** Metadata requests that failed because of such a loss are sent again. */
    default void goOnAfterLoss() {}

    /** The volume has failed a member that lost writes: nothing waits for it any more that is to be on all members. */
    default void failedAfterLoss(int slot) {}

    /**
     * The volume takes no writes any more, since it has lost more than it survives, or is closed: nothing more is made
     * stable, and whoever waits for that is told so. Called by any thread, also more than once.
     */
    default void abandon(StorageException why) {}

    /** Time goes on ({@link RaidVolume#tick}): whoever waits for members looks for those that stall. */
    default void watch() {}

    /** What the volume is to use for a device that comes into a slot: the same, or one over it. */
    default BlockDevice member(BlockDevice device) {
        return device;
    }

    /**
     * A slot is about to get its content anew: what is logged of changes that have ended must not be brought in place
     * after that, since it may be older.
     *
     * @param done called once, by any thread, also before the call returns
     */
    default void settle(Runnable done) { done.run(); }
}
