package lunar.raid.service;

import java.time.Duration;
import lunar.block.BusyException;
import lunar.block.StorageException;
import lunar.raid.Completion;
import lunar.raid.SlotState;
import lunar.raid.StateKeeper;
import lunar.raid.VolumeState;

/** Tracks which state of the volume is stable: a slot gets another member only when its failure is stable. */
final class StableFailures implements StateKeeper {
    private final StateKeeper keeper;
    /** Slots with a stable failure, as bits. Guarded by this. */
    private long failed;

    /** @param failed slots that had failed at the start, as bits */
    StableFailures(StateKeeper keeper, long failed) {
        this.keeper = keeper;
        this.failed = failed;
    }

    @Override
    public void keep(VolumeState state, Completion done) {
        forget(state);
        keeper.keep(state, failure -> {
            if (failure == null) {
                note(state);
            }
            done.completed(failure);
        });
    }

    @Override
    public void whenJoined(int slot, Runnable joined) { keeper.whenJoined(slot, joined); }

    /** A slot that gets another member has no stable failure any more, even if that member fails at once. */
    private synchronized void forget(VolumeState state) {
        failed &= failed(state);
    }

    private synchronized void note(VolumeState state) {
        failed = failed(state);
        notifyAll();
    }

    private static long failed(VolumeState state) {
        long failed = 0;
        for (int slot = 0; slot < state.slots().size(); slot++) {
            failed |= state.slots().get(slot) == SlotState.FAILED ? 1L << slot : 0;
        }
        return failed;
    }

    /** Waits until the failure of a slot is noted on the others. */
    synchronized void awaitFailed(int slot, Duration most)
            throws StorageException, InterruptedException {
        long until = System.nanoTime() + most.toNanos();
        while ((failed & 1L << slot) == 0) {
            long leftMs = (until - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                throw new BusyException("the failure of slot " + slot
                        + " is not noted on the other members yet: try again");
            }
            wait(leftMs);
        }
    }
}
