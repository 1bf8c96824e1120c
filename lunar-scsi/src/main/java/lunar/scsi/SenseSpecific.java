package lunar.scsi;

/**
 * The three sense-key-specific bytes, which the sense key gives a meaning (SPC-5).
 *
 * <pre>
 * bit  7     6    5   4   3    2   1   0
 *   0  SKSV  C/D  -   -   BPV  bit pointer     illegal request
 *   1  field pointer, progress or retry count
 *   2
 * </pre>
 */
public sealed interface SenseSpecific {
    /** For which byte, and where known which bit, of a CDB or a parameter list is in error. */
    record FieldPointer(boolean inCdb, int byteAt, int bit) implements SenseSpecific {
        /** In place of a bit: the whole byte, or the field that starts there. */
        public static final int NO_BIT = -1;

        public FieldPointer {
            if (byteAt < 0 || byteAt > 0xffff || bit < NO_BIT || bit > 7) {
                throw new IllegalArgumentException("byte " + byteAt + " bit " + bit);
            }
        }

        @Override
        public String toString() {
            return (inCdb ? "CDB" : "parameter list") + " byte " + byteAt
                    + (bit == NO_BIT ? "" : " bit " + bit);
        }
    }

    /**
     * Which byte of the parameter list, or of a segment descriptor of it, made a copy fail (SPC-5 section 4.5.2.4.5).
     *
     * @param inSegment SD: counted from the start of the segment descriptor
     */
    record SegmentPointer(boolean inSegment, int byteAt, int bit) implements SenseSpecific {
        public SegmentPointer {
            if (byteAt < 0 || byteAt > 0xffff || bit < FieldPointer.NO_BIT || bit > 7) {
                throw new IllegalArgumentException("byte " + byteAt + " bit " + bit);
            }
        }

        @Override
        public String toString() {
            return (inSegment ? "segment" : "parameter list") + " byte " + byteAt
                    + (bit == FieldPointer.NO_BIT ? "" : " bit " + bit);
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
}
