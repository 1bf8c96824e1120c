package lunar.scsi;

import java.util.OptionalInt;

/**
 * The three sense-key-specific bytes, whose meaning depends on the sense key (SPC-5).
 *
 * <pre>
 * bit  7     6    5   4   3    2   1   0
 *   0  SKSV  C/D  -   -   BPV  bit pointer     illegal request
 *   1  field pointer, progress or retry count
 *   2
 * </pre>
 */
public sealed interface SenseSpecific {
    /**
     * The field of a CDB or of a parameter list that is in error.
     *
     * @param inCdb whether it is in the CDB
     * @param byteAt its first byte
     * @param bit its most significant bit; empty for the whole byte, or a field of whole bytes that starts there
     */
    record FieldPointer(boolean inCdb, int byteAt, OptionalInt bit) implements SenseSpecific {
        public FieldPointer {
            check(byteAt, bit);
        }

        @Override
        public String toString() {
            return (inCdb ? "CDB" : "parameter list") + " byte " + byteAt
                    + text(bit);
        }
    }

    /**
     * Which byte of the parameter list, or of a segment descriptor of it, made a copy fail (SPC-5 section 4.5.2.4.5).
     *
     * @param inSegment SD: counted from the start of the segment descriptor
     * @param bit most significant bit of the field; empty for the whole byte, or a field of whole bytes
     */
    record SegmentPointer(boolean inSegment, int byteAt, OptionalInt bit)
            implements
            SenseSpecific {
        public SegmentPointer {
            check(byteAt, bit);
        }

        @Override
        public String toString() {
            return (inSegment ? "segment" : "parameter list") + " byte " + byteAt
                    + text(bit);
        }
    }

    /** How far a long operation is, in parts of 65536. */
    record Progress(int of65536) implements SenseSpecific {
        public Progress {
            if (of65536 < 0 || of65536 > 0xffff) {
                throw new IllegalArgumentException("progress " + of65536);
            }
        }

        @Override
        public String toString() { return of65536 * 100 / 65536 + "% done"; }
    }

    /** How often recovery was tried. */
    record RetryCount(int count) implements SenseSpecific {
        public RetryCount {
            if (count < 0 || count > 0xffff) {
                throw new IllegalArgumentException("retry count " + count);
            }
        }

        @Override
        public String toString() { return count + " retries"; }
    }

    private static void check(int byteAt, OptionalInt bit) {
        if (byteAt < 0 || byteAt > 0xffff || bit.orElse(0) < 0 || bit.orElse(0) > 7) {
            throw new IllegalArgumentException("byte " + byteAt + text(bit));
        }
    }

    private static String text(OptionalInt bit) {
        return bit.isPresent() ? " bit " + bit.getAsInt() : "";
    }
}
