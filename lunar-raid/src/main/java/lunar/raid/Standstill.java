package lunar.raid;

/**
 * Does something while no stripe is locked by anybody else: what every write must see from its beginning on. Writes
 * wait for as long as those before them take.
 */
final class Standstill {
    private final StripeLocks locks;
    private final Runnable work;
    private final StripeLocks.Holder[] holders = new StripeLocks.Holder[StripeLocks.LOCKS];
    private int held;

    Standstill(StripeLocks locks, Runnable work) {
        this.locks = locks;
        this.work = work;
    }

    void start() { Trampoline.run(this::lock); }

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
