package lunar.iscsi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.zip.CRC32C;
import lunar.iscsi.spi.Framing;
import lunar.iscsi.spi.PduReceiver;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a byte stream into PDUs (RFC 7143 section 11.2): header segments, digests, data, padding. Pure: the shell
 * reads from the network into a staging buffer, which many connections may share, and hands it in.
 *
 * <p>A turn of the shell: {@link #restore} puts back what the last turn left over; read behind it, and first into
 * {@link #destination} where there is one; then {@link #consume}. A data segment which is wholly in the staging
 * buffer is delivered in place, or copied once to where the receiver wants it; of a longer one only the start is
 * copied, and the rest is read straight into its destination. An idle connection keeps nothing.
 */
public final class PduReader {
    private static final int DIGEST_LENGTH = 4;
    private static final int MAX_AHS = 255 * 4;
    private static final int MAX_HEADER = Bhs.LENGTH + MAX_AHS + DIGEST_LENGTH;

    private static final ValueLayout.OfInt WIRE_INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private enum Phase {
        HEADER, DATA, TRAILER
    }

    private final PduReceiver receiver;
    private final Bhs bhs = new Bhs();
    private final CRC32C crc = new CRC32C();
    private Framing next = Framing.LOGIN;
    private Framing framing = next;
    private Phase phase = Phase.HEADER;

    /** Header of a PDU whose data are still coming; its bytes in the staging buffer are gone by then. */
    private final byte[] header = new byte[Bhs.LENGTH + MAX_AHS];
    private final MemorySegment headerBytes = MemorySegment.ofArray(header);
    private int ahsLength;
    private MemorySegment data = MemorySegment.NULL;
    private @Nullable ByteBuffer destination;

    /** What the last turn left over: less than a header, or less than padding and digest. */
    private final byte[] kept = new byte[MAX_HEADER];
    private int keptLength;
    private boolean stopped;

    public PduReader(PduReceiver receiver) { this.receiver = receiver; }

    /** Sets what holds from the next PDU on. */
    public void framing(Framing framing) {
        next = framing;
    }

    /** Delivers nothing any more, not even what is left of the bytes being consumed. */
    public void stop() {
        stopped = true;
        destination = null;
        data = MemorySegment.NULL;
    }

    /** Whether the stream stands inside a PDU: bytes of it have come, and it is not complete. */
    public boolean inPdu() {
        return phase != Phase.HEADER || keptLength > 0;
    }

    /**
     * Where the next bytes from the network belong, if not in the staging buffer; fill it before the staging buffer.
     */
    public @Nullable ByteBuffer destination() { return destination; }

    /** Puts what the last turn left over at the front of the staging buffer; returns its length. */
    public int restore(MemorySegment staging) {
        MemorySegment.copy(kept, 0, staging, ValueLayout.JAVA_BYTE, 0, keptLength);
        return keptLength;
    }

    /**
     * Takes in what was read.
     *
     * @param staging the staging buffer, from its front
     * @param length bytes in it, those restored included
     * @throws IscsiException when the stream breaks a rule; nothing may be read after it
     */
    public void consume(MemorySegment staging, int length) throws IscsiException {
        int at = 0;
        while (!stopped) {
            int used = switch (phase) {
                case HEADER -> header(staging, at, length - at);
                case DATA -> data(staging, at, length - at);
                case TRAILER -> trailer(staging, at, length - at);
            };
            if (used < 0) {
                break;
            }
            at += used;
        }
        keptLength = stopped ? 0 : length - at;
        assert keptLength < MAX_HEADER : keptLength;
        MemorySegment.copy(staging, ValueLayout.JAVA_BYTE, at, kept, 0, keptLength);
    }

    /** Returns the bytes used, or -1 where more are needed. */
    private int header(MemorySegment staging, int at, int available) throws IscsiException {
        if (available < Bhs.LENGTH) {
            return -1;
        }
        framing = next;
        bhs.wrap(staging, at);
        int ahs = bhs.totalAhsLengthBytes();
        int dataLength = bhs.dataSegmentLength();
        if (ahs > framing.maxReceiveAhsBytes()) {
            throw new ProtocolException("PDU " + name() + " with " + ahs
                    + " bytes of additional header segments, over the limit of "
                    + framing.maxReceiveAhsBytes());
        }
        if (dataLength > framing.maxReceiveDataBytes()) {
            throw new ProtocolException("PDU " + name() + " with a data segment of " + dataLength
                    + " bytes, over MaxRecvDataSegmentLength " + framing.maxReceiveDataBytes()
                    + " (RFC 7143 section 13.12)");
        }
        int segments = Bhs.LENGTH + ahs;
        int headers = segments + (framing.headerDigest() ? DIGEST_LENGTH : 0);
        if (available < headers) {
            return -1;
        }
        if (framing.headerDigest()
                && digest(staging, at, segments) != staging.get(WIRE_INT, at + segments)) {
            throw new DigestException("header digest of a PDU is wrong (RFC 7143 section 7.8)");
        }
        MemorySegment ahsSegment = ahs == 0
                ? MemorySegment.NULL
                : staging.asSlice(at + Bhs.LENGTH, ahs);
        if (dataLength == 0) {
            receiver.received(bhs, ahsSegment, MemorySegment.NULL);
            return headers;
        }
        data = receiver.dataDestination(bhs, ahsSegment, dataLength);
        if (stopped) {
            data = MemorySegment.NULL;
            return headers;
        }
        if (!data.equals(MemorySegment.NULL) && data.byteSize() != dataLength) {
            throw new IllegalStateException("a destination of " + data.byteSize()
                    + " bytes for a data segment of " + dataLength);
        }
        int whole = headers + dataLength + trailerLength(dataLength);
        if (available >= whole) {
            MemorySegment in = staging.asSlice(at + headers, dataLength);
            boolean right = !framing.dataDigest() || digestOfData(in, staging,
                    at + headers + dataLength) == staging.get(WIRE_INT, at + whole - DIGEST_LENGTH);
            if (data.equals(MemorySegment.NULL)) {
                data = in;
            } else if (right) {
                data.copyFrom(in);
            }
            deliver(ahsSegment, right);
            return whole;
        }
        MemorySegment.copy(staging, ValueLayout.JAVA_BYTE, at, header, 0, segments);
        ahsLength = ahs;
        if (data.equals(MemorySegment.NULL)) {
            data = MemorySegment.ofArray(new byte[dataLength]);
        }
        destination = data.asByteBuffer();
        phase = Phase.DATA;
        return headers;
    }

    private int data(MemorySegment staging, int at, int available) {
        ByteBuffer to = Objects.requireNonNull(destination);
        int length = Math.min(available, to.remaining());
        if (length > 0) {
            MemorySegment.copy(staging, at, data, to.position(), length);
            to.position(to.position() + length);
        }
        if (to.hasRemaining()) {
            return length > 0 ? length : -1;
        }
        destination = null;
        phase = Phase.TRAILER;
        return length;
    }

    private int trailer(MemorySegment staging, int at, int available) throws IscsiException {
        int dataLength = (int) data.byteSize();
        int trailer = trailerLength(dataLength);
        if (available < trailer) {
            return -1;
        }
        boolean right = true;
        if (framing.dataDigest()) {
            int came = staging.get(WIRE_INT, at + trailer - DIGEST_LENGTH);
            right = digestOfData(data, staging, at) == came;
        }
        bhs.wrap(headerBytes);
        phase = Phase.HEADER;
        deliver(ahsLength == 0 ? MemorySegment.NULL : headerBytes.asSlice(Bhs.LENGTH, ahsLength),
                right);
        return trailer;
    }

    private void deliver(MemorySegment ahs, boolean right) throws ProtocolException {
        MemorySegment delivered = data;
        data = MemorySegment.NULL;
        if (right) {
            receiver.received(bhs, ahs, delivered);
        } else {
            receiver.dataDigestError(bhs);
        }
    }

    private int trailerLength(int dataLength) {
        return (-dataLength & 3) + (framing.dataDigest() ? DIGEST_LENGTH : 0);
    }

    private int digest(MemorySegment segment, int at, int length) {
        crc.reset();
        crc.update(segment.asSlice(at, length).asByteBuffer());
        return Integer.reverseBytes((int) crc.getValue());
    }

    /** The digest of a data segment covers its padding (RFC 7143 section 11.2.4). */
    private int digestOfData(MemorySegment in, MemorySegment padding, int paddingAt) {
        crc.reset();
        crc.update(in.asByteBuffer());
        int length = (int) (-in.byteSize() & 3);
        if (length > 0) {
            crc.update(padding.asSlice(paddingAt, length).asByteBuffer());
        }
        return Integer.reverseBytes((int) crc.getValue());
    }

    private String name() { return String.format("%02Xh", bhs.opcode()); }
}
