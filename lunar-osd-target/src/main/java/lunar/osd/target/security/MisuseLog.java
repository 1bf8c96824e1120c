package lunar.osd.target.security;

import java.util.function.LongSupplier;
import lunar.osd.wire.command.OsdCdb;

/** Logs refused commands: at most one line every ten seconds, with the number of those in between. Thread-safe. */
final class MisuseLog {
    static final long QUIET_MS = 10_000;

    private static final System.Logger LOG = System.getLogger("lunar.osd.target");

    private final String device;
    private final LongSupplier clock;
    private long quietUntilMs;
    private long suppressed;

    MisuseLog(String device, LongSupplier clock) {
        this.device = device;
        this.clock = clock;
    }

    /**
     * Records a refusal.
     *
     * @param from the initiator, without control characters
     * @param why the reason, without secrets
     */
    void refused(OsdCdb command, String from, String why) {
        long others;
        synchronized (this) {
            long now = clock.getAsLong();
            if (now < quietUntilMs && quietUntilMs - now <= QUIET_MS) {
                suppressed++;
                return;
            }
            quietUntilMs = now + QUIET_MS;
            others = suppressed;
            suppressed = 0;
        }
        LOG.log(System.Logger.Level.WARNING, device + ": refused " + command.action() + " of "
                + command.object() + " by " + from + ": " + why
                + (others == 0 ? "" : " (" + others + " more commands were refused)"));
    }
}
