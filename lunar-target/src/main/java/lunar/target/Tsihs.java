package lunar.target;

import java.util.BitSet;
import java.util.OptionalInt;

/**
 * The TSIHs of a server: each is claimed when a session is given it, and is free again when that session has ended
 * (RFC 7143 section 4.4.3.3). Numbers are given in turn, so that a late login meets no other session under the number
 * of its own. Thread-safe.
 */
final class Tsihs {
    /** How many there are; 0 is none. */
    static final int COUNT = 0xffff;

    private final BitSet claimed = new BitSet(COUNT + 1);
    private int last;

    /** A TSIH that no session has; empty where sessions have all of them. */
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

    /** The session of a TSIH has ended. */
    synchronized void release(int tsih) {
        assert claimed.get(tsih) : "TSIH " + tsih + " is released twice";
        claimed.clear(tsih);
    }
}
