package lunar.osd.target.security;

import java.util.Comparator;
import java.util.TreeSet;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.security.RequestNonce;

/**
 * Remembers the request nonces of admitted commands, so that each is used once. Memory is bounded: when there are too
 * many nonces, the oldest is forgotten, and those that are not newer are refused from then on. Thread-safe.
 */
final class NonceWindow {
    /** Judgement of a nonce. */
    enum Verdict {
        UNIQUE, REPEATED, OUT_OF_RANGE
    }

    private record Entry(long timeMs, long random) {}

    private final TreeSet<Entry> seen = new TreeSet<>(
            Comparator.comparingLong(Entry::timeMs).thenComparingLong(Entry::random));
    private final int most;
    private long floorMs;

    /**
     * @param most nonces that are remembered
     * @param floorMs nonces of this time and older are refused
     */
    NonceWindow(int most, long floorMs) {
        this.most = most;
        this.floorMs = floorMs;
    }

    /**
     * Judges a nonce, and remembers it if it is unique.
     *
     * @param oldestMs most milliseconds before the clock
     * @param newestMs most milliseconds after the clock
     */
    synchronized Verdict admit(RequestNonce nonce, long nowMs, long oldestMs, long newestMs) {
        long time = nonce.timeMs();
        var entry = new Entry(time, Values.number(nonce.random()));
        if (seen.contains(entry)) {
            return Verdict.REPEATED;
        }
        if (time <= floorMs || nowMs - time > oldestMs || time - nowMs > newestMs) {
            return Verdict.OUT_OF_RANGE;
        }
        seen.add(entry);
        if (seen.size() > most) {
            floorMs = seen.removeFirst().timeMs();
        }
        return Verdict.UNIQUE;
    }
}
