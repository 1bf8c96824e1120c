package lunar.raid.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.OptionalInt;

/**
 * Locates the corrupt unit of a stripe from the differences between the redundant units and their expected content.
 *
 * <p>If data unit i is wrong by e, P differs by e and Q by g^i e: the quotient is the same at every byte. If only one
 * of P and Q differs, it is wrong itself. Of three copies or more the majority is right.
 */
public final class CorruptUnitLocator {
    private CorruptUnitLocator() {}

    /**
     * Locates the wrong unit of a stripe.
     *
     * @param differences of each redundant unit, at least one not all zeroes
     * @return empty if that cannot be told
     */
    public static OptionalInt of(Layout layout, MemorySegment[] differences) {
        return switch (layout.code()) {
            case NONE, P -> OptionalInt.empty();
            case PQ -> ofParities(layout.dataUnits(), differences[0], differences[1]);
            case COPIES -> ofCopies(differences);
        };
    }

    private static OptionalInt ofParities(int dataUnits, MemorySegment p, MemorySegment q) {
        int locator = -1;
        for (long at = 0; at < p.byteSize(); at++) {
            int inP = p.get(ValueLayout.JAVA_BYTE, at) & 0xff;
            int inQ = q.get(ValueLayout.JAVA_BYTE, at) & 0xff;
            if (inP == 0 && inQ == 0) {
                continue;
            }
            int here = inQ == 0
                    ? dataUnits
                    : inP == 0 ? dataUnits + 1 : Galois.logarithm(Galois.over(inQ, inP));
            if ((inP != 0 && inQ != 0 && here >= dataUnits) || (locator >= 0 && here != locator)) {
                return OptionalInt.empty();
            }
            locator = here;
        }
        return locator < 0 ? OptionalInt.empty() : OptionalInt.of(locator);
    }

    /** Compares all copies with each other; the differences are from the first copy. */
    private static OptionalInt ofCopies(MemorySegment[] differences) {
        int copies = differences.length + 1;
        int wrong = -1;
        for (int copy = 0; copy < copies; copy++) {
            int same = 0;
            for (int other = 0; other < copies; other++) {
                same += isSame(differences, copy, other) ? 1 : 0;
            }
            if (same == 1 && copies > 2) {
                if (wrong >= 0) {
                    return OptionalInt.empty();
                }
                wrong = copy;
            } else if (same < copies - 1) {
                return OptionalInt.empty();
            }
        }
        return wrong < 0 ? OptionalInt.empty() : OptionalInt.of(wrong);
    }

    private static boolean isSame(MemorySegment[] differences, int one, int other) {
        if (one == other) {
            return true;
        }
        if (one == 0 || other == 0) {
            return isZero(differences[one + other - 1]);
        }
        return differences[one - 1].mismatch(differences[other - 1]) < 0;
    }

    private static boolean isZero(MemorySegment segment) {
        for (long at = 0; at < segment.byteSize(); at++) {
            if (segment.get(ValueLayout.JAVA_BYTE, at) != 0) {
                return false;
            }
        }
        return true;
    }
}
