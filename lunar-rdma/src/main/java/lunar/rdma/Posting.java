package lunar.rdma;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Spin lock that is held while an operation is posted: for well under a microsecond, or, with a device that copies the
 * data during the post, for the duration of the copy.
 */
final class Posting {
    private static final int SPINS = 200;
    private static final long PAUSE_NS = 10_000;
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(Posting.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings({"unused", "UnusedVariable"}) // accessed through its VarHandle
    private int held;

    void lock() {
        int spins = 0;
        while (!HELD.weakCompareAndSetAcquire(this, 0, 1)) {
            if (++spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NS); // the holder may have been preempted
            }
        }
    }

    void unlock() { HELD.setRelease(this, 0); }
}
