package lunar.target.internal.session;

import java.util.BitSet;
import java.util.OptionalInt;

/**
 * Allocates the TSIHs of a server: each is claimed by a session, and is free again when that session has ended (RFC
 * 7143 section 4.4.3.3). Allocation is round-robin, which delays reuse: a delayed login that names a session that has
 * ended is unlikely to reach a newer one. Thread-safe.
 */
final class Tsihs {
    /** Number of TSIHs, and the largest; 0 is reserved. */
    static final int COUNT = 0xffff;

    private final BitSet claimed = new BitSet(COUNT + 1);
    private int last;

    /** Claims a free TSIH; empty if all are claimed. */
    synchronized OptionalInt claim() {
        int free = claimed.nextClearBit(last + 1);
        if (free > COUNT) {
            free = claimed.nextClearBit(1);
        }
        if (free > COUNT) {
            return OptionalInt.empty();
        }
        claimed.set(free);
        last = free;
        return OptionalInt.of(free);
    }

    /** Releases the TSIH of a session that has ended. */
    synchronized void release(int tsih) {
        assert claimed.get(tsih) : "TSIH " + tsih + " was not claimed";
        claimed.clear(tsih);
    }
}
