package lunar.osd.s3.bucket;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.UserObjectAttribute;

/**
 * Identifiers and attributes of the objects of a bucket. The first bits of a User_Object_ID say what the object is:
 *
 * <pre>
 * 0001 | time, random bits    a multipart upload
 * 001  | time, random bits    data
 * 01   | 58 bits of SHA-256 of the key | 4 bits of it     a head; the last 4 bits are where probing starts
 * </pre>
 *
 * <p>The first bit is 0, so that identifiers are positive where they are taken as signed numbers.
 */
final class Layout {
    static final long UPLOADS = 1L << 60;
    static final long DATA = 1L << 61;
    static final long HEADS = 1L << 62;
    /** Heads of keys with a common prefix of their hash: probing stays within them. */
    static final int PROBES = 16;

    /** An application page of user objects. */
    static final int PAGE = 0x1_5333;
    /** The key of a head. */
    static final AttributeId KEY = UserObjectAttribute.USERNAME.id();
    /** {@link ObjectRecord} of a head, {@link UploadRecord} of an upload. */
    static final AttributeId RECORD = new AttributeId(PAGE, 1);
    /** The {@link DataOwner} of data: the key or part that they were written for. */
    static final AttributeId OWNER = new AttributeId(PAGE, 2);
    /** The data object with which an upload was completed, 8 bytes; set before the record of the head. */
    static final AttributeId COMPLETION = new AttributeId(PAGE, 3);
    /** An upload has the {@link PartRecord} of part n as this attribute number plus n. */
    static final int FIRST_PART = 0x1_0000;

    private static final int RANDOM_BITS = 16;
    private static final long TIME_MASK = (1L << 44) - 1;

    /** Time and random bits of the identifier given last: they ascend, whatever the clock does. */
    private final AtomicLong last;
    private final InstantSource clock;

    Layout(InstantSource clock) {
        this.clock = clock;
        last = new AtomicLong(now() | (1L << RANDOM_BITS) - 1);
    }

    /** Returns the time bits now, as identifiers have them. Later identifiers are not below. */
    private long now() {
        return (clock.millis() & TIME_MASK) << RANDOM_BITS;
    }

    /** Returns the identifier of new data. */
    long newData() { return DATA | next(); }

    /** Returns the identifier of a new upload. */
    long newUpload() { return UPLOADS | next(); }

    private long next() {
        long random = ThreadLocalRandom.current().nextLong(1L << RANDOM_BITS);
        return last.accumulateAndGet(now() | random,
                (before, fresh) -> Math.max(before + 1, fresh));
    }

    /** Returns the identifier from which on new data will be. */
    long newestData() {
        return DATA | last.get();
    }

    /** Returns where the head of a key is looked for first. */
    static long head(String key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256")
                    .digest(key.getBytes(StandardCharsets.UTF_8));
            long bits = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                bits = bits << 8 | (hash[i] & 0xff);
            }
            return HEADS | bits >>> 2;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns where the head of a key is looked for next. */
    static long next(long head) {
        return (head & -PROBES) | ((head + 1) & (PROBES - 1));
    }

    static AttributeId part(int number) { return new AttributeId(PAGE, FIRST_PART + number); }
}
