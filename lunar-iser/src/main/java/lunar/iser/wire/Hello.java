package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.iscsi.ProtocolException;

/**
 * iSER Hello (RFC 7145 section 9.3): first message of an initiator after the login, where iSERHelloRequired=Yes.
 *
 * @param maxVersion highest version of the protocol, 4 bits
 * @param minVersion lowest version of the protocol, 4 bits
 * @param reads iSER-IRD: RDMA Reads that the initiator serves at a time, 16 bits
 */
public record Hello(int maxVersion, int minVersion, int reads) {
    /** The version that RFC 7145 describes. */
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

    /** Writes {@link IserHeader#LENGTH} bytes. */
    public void encode(MemorySegment message) {
        message.asSlice(0, IserHeader.LENGTH).fill((byte) 0);
        message.set(ValueLayout.JAVA_BYTE, 0, (byte) IserHeader.HELLO);
        message.set(ValueLayout.JAVA_BYTE, VERSIONS, (byte) (maxVersion << 4 | minVersion));
        message.set(IserHeader.SHORT, READS, (short) reads);
    }

    /** Whether a message is one. */
    public static boolean isHello(MemorySegment message) {
        return message.byteSize() > 0 && IserHeader.kind(message) == IserHeader.HELLO;
    }

    /** Reads a message that {@linkplain #isHello is one}. */
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
