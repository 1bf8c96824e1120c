package lunar.rdma.libfabric;

import java.util.concurrent.atomic.AtomicInteger;

/** Admits one wake-up for each sleep of a thread. Thread-safe. */
final class WakeUps {
    /** Number of the sleep of the latest wake-up. */
    private final AtomicInteger last = new AtomicInteger();

    /** Whether the caller must end the sleep with a number; 0 stands for no sleep. True for one caller per sleep. */
    boolean take(int sleep) {
        return sleep != 0 && last.getOpaque() != sleep && last.getAndSet(sleep) != sleep;
    }
}
