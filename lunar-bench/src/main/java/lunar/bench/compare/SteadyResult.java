package lunar.bench.compare;

import lunar.bench.harness.Spread;

import java.util.List;
import java.util.Locale;
import lunar.bench.compare.Goal.Bound;
import lunar.bench.compare.Goal.Judged;

/**
 * Steady state of a server.
 *
 * @param lun the LUN read and written
 * @param sessions number of sessions
 * @param iops commands per second
 * @param bytesPerCommand bytes allocated by all threads of the server per command
 * @param log pauses of the JVM
 */
record SteadyResult(String lun, int sessions, double iops, double bytesPerCommand, JvmLog log) {
    private static final String ROW = "steady state, 4 KiB random reads and writes, depth 32";
    /** No object has fewer than 16 bytes: below this, no command of 32 allocates, and what is left is the JVM's own. */
    private static final Bound NOTHING = Bound.most(0.5);
    private static final Bound SHORT = Bound.most(1);

    List<Judged> judged() {
        return List.of(
                new Judged(ROW, "bytes allocated per command: " + lun, "0",
                        String.format(Locale.ROOT, "%.2f", bytesPerCommand),
                        NOTHING.verdict(new Spread(bytesPerCommand, bytesPerCommand,
                                bytesPerCommand))),
                new Judged(ROW, "GC pauses: " + lun, "p99.9 below 1 ms",
                        log.collections().toString(), verdict(log.collections())),
                new Judged(ROW, "all safepoints: " + lun, "", log.safepoints().toString(), "told"));
    }

    private static String verdict(JvmLog.Pauses pauses) {
        return SHORT.verdict(new Spread(pauses.p999Ms(), pauses.p999Ms(), pauses.p999Ms()));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT,
                "%s: %.0f commands/s of %d sessions, %.2f bytes allocated per command%n"
                        + "  GC pauses: %s%n  safepoints: %s",
                lun, iops, sessions, bytesPerCommand, log.collections(), log.safepoints());
    }
}
