package lunar.target.internal.session;

import java.util.BitSet;
import java.util.OptionalInt;

/**
 * Allocates the TSIHs of a server: each is claimed by a session, and is free again when that session has ended (RFC
 * 7143 section 4.4.3.3). Numbers are allocated in turn, so that a late login does not refer to a newer session with a
 * reused TSIH. Thread-safe.
 */
final class Tsihs {
    /** The number of TSIHs; 0 is not valid. */
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
        assert claimed.get(tsih) : "TSIH " + tsih + " released twice";
        claimed.clear(tsih);
    }
}
