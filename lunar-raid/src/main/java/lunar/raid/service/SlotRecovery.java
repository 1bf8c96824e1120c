package lunar.raid.service;

/** The recovery state of a slot, besides its {@code SlotState}. Guarded by the {@link RecoveryCoordinator}. */
final class SlotRecovery {
    String uri;
    /** Whether the operator, or a medium error, has taken its member out: it does not come back by itself. */
    boolean isOut;
    String why = "";
    int failures;
    long nextNs;
    long failedNs;
    long wholeNs;

    SlotRecovery(String uri, long nowNs) {
        this.uri = uri;
        nextNs = nowNs;
        failedNs = nowNs;
        wholeNs = nowNs;
    }

    /** Whether its member is to be reopened now; if so, advances the backoff. */
    boolean isDue(RunTiming timing) {
        if (System.nanoTime() - nextNs < 0) {
            return false;
        }
        failures++;
        nextNs = System.nanoTime() + timing.retryAfter(failures).toNanos();
        return true;
    }
}
