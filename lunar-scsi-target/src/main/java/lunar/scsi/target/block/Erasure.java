package lunar.scsi.target.block;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.SanitizeOverwrite;

/**
 * Parameters of a SANITIZE or FORMAT UNIT in a form that is saved, so that an erasure interrupted by a restart of the
 * server is detected (SBC-4 section 4.11).
 *
 * <pre>
 * 0 format of what follows, 1   1 kind   2 failed 1, unrestricted 0   3 parameter list of OVERWRITE
 * </pre>
 *
 * @param unrestricted AUSE: EXIT FAILURE MODE may leave the state of a failure
 * @param hasFailed whether it has failed; otherwise it is in progress or was interrupted
 * @param overwrite parameter list of an overwrite
 */
record Erasure(Kind kind, boolean unrestricted, boolean hasFailed,
        Optional<SanitizeOverwrite> overwrite) {
    /** How the medium is erased. */
    enum Kind {
        FORMAT(1), BLOCK_ERASE(2), CRYPTOGRAPHIC_ERASE(3), OVERWRITE(4);

        private final int code;

        Kind(int code) { this.code = code; }
    }

    private static final int FORMAT = 1;
    private static final int HEADER_LENGTH = 3;
    private static final int UNRESTRICTED = 1;
    private static final int FAILED = 2;

    static Erasure of(Kind kind, boolean unrestricted) {
        return new Erasure(kind, unrestricted, false, Optional.empty());
    }

    static Erasure overwrite(SanitizeOverwrite list, boolean unrestricted) {
        return new Erasure(Kind.OVERWRITE, unrestricted, false, Optional.of(list));
    }

    /** Returns a copy that has failed. */
    Erasure failing() {
        return new Erasure(kind, unrestricted, true, overwrite);
    }

    boolean isFormat() { return kind == Kind.FORMAT; }

    /** Whether this is a SANITIZE in restricted completion mode: only a successful one ends its failed state. */
    boolean isRestricted() {
        return !isFormat() && !unrestricted;
    }

    /** Returns the additional sense for commands while the erasure is in progress. */
    AdditionalSense inProgress() {
        return isFormat()
                ? AdditionalSense.FORMAT_IN_PROGRESS
                : AdditionalSense.SANITIZE_IN_PROGRESS;
    }

    /**
     * Returns the sense data for commands after the erasure has failed or a format was interrupted (SBC-4 section
     * 4.10).
     */
    Sense failure() {
        AdditionalSense why = !isFormat()
                ? AdditionalSense.SANITIZE_COMMAND_FAILED
                : hasFailed
                        ? AdditionalSense.FORMAT_COMMAND_FAILED
                        : AdditionalSense.MEDIUM_FORMAT_CORRUPTED;
        return Sense.of(SenseKey.MEDIUM_ERROR, why);
    }

    byte[] bytes() {
        byte[] list = overwrite.map(SanitizeOverwrite::bytes).orElse(new byte[0]);
        byte[] bytes = new byte[HEADER_LENGTH + list.length];
        bytes[0] = FORMAT;
        bytes[1] = (byte) kind.code;
        bytes[2] = (byte) ((unrestricted ? UNRESTRICTED : 0) | (hasFailed ? FAILED : 0));
        System.arraycopy(list, 0, bytes, HEADER_LENGTH, list.length);
        return bytes;
    }

    /**
     * Decodes the output of {@link #bytes}.
     *
     * @return empty if it is not a saved erasure
     */
    static Optional<Erasure> decode(byte[] bytes, int blockSize) {
        if (bytes.length < HEADER_LENGTH || bytes[0] != FORMAT) {
            return Optional.empty();
        }
        for (Kind kind : Kind.values()) {
            if (kind.code == bytes[1]) {
                return decode(kind, bytes, blockSize);
            }
        }
        return Optional.empty();
    }

    private static Optional<Erasure> decode(Kind kind, byte[] bytes, int blockSize) {
        try {
            return Optional.of(new Erasure(kind, (bytes[2] & UNRESTRICTED) != 0,
                    (bytes[2] & FAILED) != 0,
                    kind != Kind.OVERWRITE
                            ? Optional.empty()
                            : Optional.of(SanitizeOverwrite.decode(
                                    MemorySegment.ofArray(bytes).asSlice(HEADER_LENGTH),
                                    blockSize))));
        } catch (IllegalRequestException _) {
            return Optional.empty();
        }
    }
}
