package lunar.loop;

import lunar.iscsi.spi.Polling;

/**
 * Determines how long a loop polls before it sleeps. An adaptive window grows and shrinks like that of the halt polling
 * of Linux KVM (Documentation/virt/kvm/halt-polling.rst): it doubles after a wait that a window within the limit would
 * have covered, and drops to zero after a longer one. For the thread that runs the loop.
 */
final class PollWindow {
    private static final long FIRST_NS = 10_000;

    private final Polling polling;
    private long ns;

    PollWindow(Polling polling) {
        this.polling = polling;
        ns = polling.isAdaptive() ? 0 : polling.maxNs();
    }

    /** Whether this loop polls at all. */
    boolean isOpen() { return polling.maxNs() > 0; }

    /** How long to poll before the next sleep. */
    long ns() { return ns; }

    /** Notes how long the loop has waited for an event, polling and asleep. */
    void waited(long waitedNs) {
        if (!polling.isAdaptive()) {
            return;
        }
        if (waitedNs > polling.maxNs()) {
            ns = 0;
        } else if (waitedNs > ns) {
            ns = Math.min(polling.maxNs(), Math.max(FIRST_NS, 2 * ns));
        }
    }
}
