package lunar.osd.wire.security;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.scsi.Bytes;

/**
 * The request nonce, which makes a command unique.
 *
 * @param timeMs milliseconds since 1970, 48 bits
 * @param random six random bytes
 */
public record RequestNonce(long timeMs, Bytes random) {
    /** Bytes of the random number. */
    public static final int RANDOM_LENGTH = 6;
    /** Bytes of the nonce. */
    public static final int LENGTH = 12;
    /** All bytes are zero. */
    public static final RequestNonce NONE = new RequestNonce(0,
            Bytes.of(new byte[RANDOM_LENGTH]));

    public RequestNonce {
        Fields.check("timeMs", timeMs, Fields.UINT48_MAX);
        Fields.checkLength("random", random, RANDOM_LENGTH);
    }

    static RequestNonce decode(MemorySegment from, long at) {
        return new RequestNonce(Fields.int48(from, at), Fields.bytes(from, at + 6, RANDOM_LENGTH));
    }

    /** Returns the nonce as it is in a CDB. */
    public Bytes bytes() {
        var bytes = MemorySegment.ofArray(new byte[LENGTH]);
        encode(bytes, 0);
        return Bytes.of(bytes);
    }

    void encode(MemorySegment to, long at) {
        Fields.int48(to, at, timeMs);
        Fields.bytes(to, at + 6, random);
    }

    /** Leaves out the random number. */
    @Override
    public String toString() { return "RequestNonce[timeMs=" + timeMs + ']'; }
}
