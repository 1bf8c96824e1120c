package lunar.iser.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.iscsi.ProtocolException;

/**
 * iSER HelloReply message (RFC 7145 section 9.4): the target's reply to a {@link Hello}.
 *
 * @param rejected whether the target supports none of the initiator's versions
 * @param maxVersion highest protocol version that the target supports, 4 bits
 * @param version protocol version that the connection uses, 4 bits
 * @param reads iSER-ORD: most RDMA Reads that the target issues at a time, 16 bits
 */
public record HelloReply(boolean rejected, int maxVersion, int version, int reads) {
    private static final int REJECT = 0x01;
    private static final int VERSIONS = 1;
    private static final int READS = 2;
    private static final int NIBBLE = 0xf;

    public HelloReply {
        if ((maxVersion & ~NIBBLE) != 0 || (version & ~NIBBLE) != 0 || (reads & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    "versions " + maxVersion + ", " + version + ", reads " + reads);
        }
    }

    /**
     * Returns the reply to a Hello.
     *
     * @param reads most RDMA Reads that the target can issue at a time; the reply has at most those of the Hello
     */
    public static HelloReply to(Hello hello, int reads) {
        boolean accepted = hello.minVersion() <= Hello.VERSION
                && hello.maxVersion() >= Hello.VERSION;
        return new HelloReply(!accepted, Hello.VERSION, Hello.VERSION,
                Math.min(reads, hello.reads()));
    }

    /** Encodes the message, which takes {@link IserHeader#LENGTH} bytes. */
    public void encode(MemorySegment message) {
        message.asSlice(0, IserHeader.LENGTH).fill((byte) 0);
        message.set(ValueLayout.JAVA_BYTE, 0,
                (byte) (IserHeader.HELLO_REPLY | (rejected ? REJECT : 0)));
        message.set(ValueLayout.JAVA_BYTE, VERSIONS, (byte) (maxVersion << 4 | version));
        message.set(IserHeader.SHORT, READS, (short) reads);
    }

    /** Whether a message is a HelloReply. */
    public static boolean isHelloReply(MemorySegment message) {
        return message.byteSize() > 0 && IserHeader.kind(message) == IserHeader.HELLO_REPLY;
    }

    /** Decodes a message that {@linkplain #isHelloReply is a HelloReply}. */
    public static HelloReply decode(MemorySegment message) throws ProtocolException {
        Hello.requireLength(message, "HelloReply");
        int versions = message.get(ValueLayout.JAVA_BYTE, VERSIONS) & 0xff;
        return new HelloReply((message.get(ValueLayout.JAVA_BYTE, 0) & REJECT) != 0,
                versions >>> 4, versions & NIBBLE,
                Short.toUnsignedInt(message.get(IserHeader.SHORT, READS)));
    }
}
