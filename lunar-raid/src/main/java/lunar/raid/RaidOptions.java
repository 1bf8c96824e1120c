package lunar.raid;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import lunar.block.Identity;

/**
 * Options of a volume, besides its shape and members.
 *
 * @param identity the identity of the volume
 * @param policy decides when a member is failed
 * @param guard what makes a crash harmless
 * @param keeper what makes the state stable
 * @param badBlocks blocks that have lost their content
 * @param listener told of events
 * @param stale stripes that may have wrong redundancy after a crash; {@link RaidVolume#resync} puts it right
 * @param stripeTasks stripes that are worked on at once; each takes memory of a stripe when it is first needed
 * @param closer runs what may block: closing a member that does not answer
 * @param pauses runs work about {@value #PAUSE_MS} ms later: retries a busy member that has no request in flight
 */
public record RaidOptions(Identity identity, FailurePolicy policy, WriteGuard guard,
        StateKeeper keeper, BadBlockList badBlocks, RaidListener listener, StripeSet stale,
        int stripeTasks,
        Executor closer, Executor pauses) {
    /** Default number of stripes that are worked on at once. */
    public static final int DEFAULT_STRIPE_TASKS = 64;
    /** Milliseconds of the shortest pause. */
    public static final int PAUSE_MS = 10;

    /** Returns default options: no guard, and no state is kept. */
    public static RaidOptions of(Identity identity) {
        return new RaidOptions(identity, FailurePolicy.DEFAULT, WriteGuard.NONE, StateKeeper.NONE,
                BadBlockList.NONE, RaidListener.NONE, StripeSet.EMPTY, DEFAULT_STRIPE_TASKS,
                Runnable::run,
                CompletableFuture.delayedExecutor(PAUSE_MS, TimeUnit.MILLISECONDS));
    }

    public RaidOptions {
        if (stripeTasks < 1) {
            throw new IllegalArgumentException("at least one stripe at once");
        }
    }

    public RaidOptions withPolicy(FailurePolicy other) {
        return new RaidOptions(identity, other, guard, keeper, badBlocks, listener, stale,
                stripeTasks,
                closer, pauses);
    }

    public RaidOptions withGuard(WriteGuard other) {
        return new RaidOptions(identity, policy, other, keeper, badBlocks, listener, stale,
                stripeTasks,
                closer, pauses);
    }

    public RaidOptions withKeeper(StateKeeper other) {
        return new RaidOptions(identity, policy, guard, other, badBlocks, listener, stale,
                stripeTasks,
                closer, pauses);
    }

    public RaidOptions withBadBlocks(BadBlockList other) {
        return new RaidOptions(identity, policy, guard, keeper, other, listener, stale, stripeTasks,
                closer, pauses);
    }

    public RaidOptions withListener(RaidListener other) {
        return new RaidOptions(identity, policy, guard, keeper, badBlocks, other, stale,
                stripeTasks,
                closer, pauses);
    }

    public RaidOptions withStale(StripeSet other) {
        return new RaidOptions(identity, policy, guard, keeper, badBlocks, listener, other,
                stripeTasks,
                closer, pauses);
    }

    public RaidOptions withStripeTasks(int other) {
        return new RaidOptions(identity, policy, guard, keeper, badBlocks, listener, stale, other,
                closer, pauses);
    }

    public RaidOptions withCloser(Executor other) {
        return new RaidOptions(identity, policy, guard, keeper, badBlocks, listener, stale,
                stripeTasks,
                other, pauses);
    }

    public RaidOptions withPauses(Executor other) {
        return new RaidOptions(identity, policy, guard, keeper, badBlocks, listener, stale,
                stripeTasks,
                closer, other);
    }
}
