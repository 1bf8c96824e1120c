package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.iscsi.ProtocolException;

/**
 * iSER Hello message (RFC 7145 section 9.3): the initiator's first message after the login if iSERHelloRequired=Yes.
 *
 * @param maxVersion highest protocol version that the initiator supports, 4 bits
 * @param minVersion lowest protocol version that the initiator supports, 4 bits
 * @param reads iSER-IRD: most RDMA Reads that the initiator can serve at a time, 16 bits
 */
public record Hello(int maxVersion, int minVersion, int reads) {
    /** Protocol version of RFC 7145. */
    public static final int VERSION = 10;

    private static final int VERSIONS = 1;
    private static final int READS = 2;
    private static final int NIBBLE = 0xf;

    public Hello {
        if ((maxVersion & ~NIBBLE) != 0 || (minVersion & ~NIBBLE) != 0 || (reads & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    "versions " + maxVersion + " to " + minVersion + ", reads " + reads);
        }
    }

    /** Encodes the message, which takes {@link IserHeader#LENGTH} bytes. */
    public void encode(MemorySegment message) {
        message.asSlice(0, IserHeader.LENGTH).fill((byte) 0);
        message.set(ValueLayout.JAVA_BYTE, 0, (byte) IserHeader.HELLO);
        message.set(ValueLayout.JAVA_BYTE, VERSIONS, (byte) (maxVersion << 4 | minVersion));
        message.set(IserHeader.SHORT, READS, (short) reads);
    }

    /** Whether a message is a Hello. */
    public static boolean isHello(MemorySegment message) {
        return message.byteSize() > 0 && IserHeader.kind(message) == IserHeader.HELLO;
    }

    /** Decodes a message that {@linkplain #isHello is a Hello}. */
    public static Hello decode(MemorySegment message) throws ProtocolException {
        requireLength(message, "Hello");
        int versions = message.get(ValueLayout.JAVA_BYTE, VERSIONS) & 0xff;
        var hello = new Hello(versions >>> 4, versions & NIBBLE,
                Short.toUnsignedInt(message.get(IserHeader.SHORT, READS)));
        if (hello.minVersion > hello.maxVersion) {
            throw new ProtocolException("iSER Hello with versions " + hello.minVersion + " to "
                    + hello.maxVersion + " (RFC 7145 section 9.3)");
        }
        return hello;
    }

    static void requireLength(MemorySegment message, String what) throws ProtocolException {
        if (message.byteSize() != IserHeader.LENGTH) {
            throw new ProtocolException("iSER " + what + " of " + message.byteSize()
                    + " bytes (RFC 7145 section 9.1)");
        }
    }
}
