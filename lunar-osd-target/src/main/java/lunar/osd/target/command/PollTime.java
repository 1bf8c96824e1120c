package lunar.osd.target.command;

import java.util.concurrent.TimeUnit;

/**
 * Determines how long an idle thread polls for a command before it sleeps. The time grows and shrinks like that of the
 * halt polling of Linux KVM (Documentation/virt/kvm/halt-polling.rst): it doubles after a wait that the longest time
 * would have covered, and drops to zero after a longer one, so that an idle device uses no processor. It also drops to
 * zero, for a number of waits, after a thread that polled had to share its processor. Thread-safe.
 */
final class PollTime {
    /** Longer than an initiator takes to send its next command, short beside what a disk takes. */
    static final long MAX_NS = TimeUnit.MICROSECONDS.toNanos(200);
    static final long FIRST_NS = TimeUnit.MICROSECONDS.toNanos(10);
    /** A pause of a thread that polls after which its processor counts as shared. */
    static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Waits without polling after that. */
    static final int WAITS = 1000;

    private final boolean isUseful;
    /** Guarded by this, as the next one. */
    private long ns;
    private int skipped;

    /** @param processors processors of the machine: with one, a thread that polls would wait for itself */
    PollTime(int processors) {
        isUseful = processors > 1;
    }

    /** Returns how long to poll before the next sleep. */
    synchronized long ns() { return ns; }

    /** Notes how long a thread has waited for a command, polling and asleep. */
    synchronized void waited(long waitedNs) {
        if (skipped > 0) {
            skipped--;
        } else if (waitedNs > MAX_NS) {
            ns = 0;
        } else if (waitedNs > ns && isUseful) {
            ns = Math.min(MAX_NS, Math.max(FIRST_NS, 2 * ns));
        }
    }

    /** Notes that a thread which polls has to share its processor. */
    synchronized void contended() {
        ns = 0;
        skipped = WAITS;
    }
}
