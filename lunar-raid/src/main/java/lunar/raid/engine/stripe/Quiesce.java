package lunar.raid.engine.stripe;

import lunar.raid.engine.member.Trampoline;

/**
 * Runs an action while no stripe is locked, so that every write either has ended before it or begins after it. Writes
 * that arrive meanwhile wait until the writes in flight have ended and the action has run.
 */
public final class Quiesce {
    private final StripeLocks locks;
    private final Runnable work;
    private final StripeLocks.Holder[] holders = new StripeLocks.Holder[StripeLocks.LOCKS];
    private int held;

    public Quiesce(StripeLocks locks, Runnable work) {
        this.locks = locks;
        this.work = work;
    }

    public void start() { Trampoline.run(this::lock); }

    private void lock() {
        while (held < holders.length) {
            var holder = new StripeLocks.Holder(this::lock);
            int next = held++;
            holders[next] = holder;
            if (!locks.acquire(holder, next, true)) {
                return;
            }
        }
        work.run();
        for (StripeLocks.Holder holder : holders) {
            locks.release(holder);
        }
    }
}
