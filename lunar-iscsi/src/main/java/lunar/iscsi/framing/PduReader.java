package lunar.iscsi.framing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import lunar.iscsi.DigestException;
import lunar.iscsi.IscsiException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import org.jspecify.annotations.Nullable;

/**
 * Splits a byte stream into PDUs (RFC 7143 section 11.2): header segments, digests, data, padding. Does no I/O: the
 * transport reads from the network into a staging buffer, which many connections may share, and passes it in.
 *
 * <p>For each read, the transport calls {@link #restore}, which puts the unconsumed bytes of the last read back; reads
 * after them, or first into {@link #destination} if there is one; then calls {@link #consume}. A data segment that is
 * completely in the staging buffer is delivered in place, or copied once to the receiver's destination. Of a longer one
 * only the start is copied, and a long rest is read directly into its destination. An idle connection holds no buffer.
 * No PDU causes an allocation if its receiver provides the destination, unless it has additional header segments.
 */
public final class PduReader {
    private static final int DIGEST_LENGTH = 4;
    private static final int MAX_AHS = 255 * 4;
    private static final int MAX_HEADER = Bhs.LENGTH + MAX_AHS + DIGEST_LENGTH;

    /** A TLS record with an alert: type, version, length and two bytes. */
    private static final int TLS_ALERT_LENGTH = 7;
    private static final int TLS_ALERT = 0x15;
    private static final int TLS_MAJOR_VERSION = 3;

    /**
     * A rest of data shorter than this is read together with what follows and copied, which is cheaper than a separate
     * read.
     */
    private static final int STRAIGHT_BYTES = 8 * 1024;

    /** After a data segment as long as this, little is staged: of one more like it only the start is then copied. */
    private static final int LONG_BYTES = 64 * 1024;
    private static final int LITTLE_BYTES = 4 * 1024;

    private static final ValueLayout.OfInt WIRE_INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);

    private enum Phase {
        HEADER, DATA, TRAILER
    }

    private final PduReceiver receiver;
    private final Bhs bhs = new Bhs();
    private final Crc32c crc = new Crc32c();
    private final BufferViews views = new BufferViews();
    /** Staging buffer of this read, once a digest has been requested. */
    private @Nullable ByteBuffer staged;
    private Framing next = Framing.LOGIN;
    private Framing framing = next;
    private Phase phase = Phase.HEADER;

    /** Header of a PDU with incomplete data, whose bytes are no longer in the staging buffer. */
    private final byte[] header = new byte[Bhs.LENGTH + MAX_AHS];
    private final MemorySegment headerBytes = MemorySegment.ofArray(header);
    private int ahsLength;
    private MemorySegment data = MemorySegment.NULL;
    /** Bytes of the data that are in their place, and in the digest. */
    private int filled;
    /** Length of the latest data segment. */
    private int latestLength;
    /** The data where the network is to write the rest of them, or null: a short one, or on the heap. */
    private @Nullable ByteBuffer destination;

    /** Bytes left over by the last turn: less than a header, or less than padding and digest; more after a pause. */
    private byte[] kept = new byte[MAX_HEADER];
    private int keptLength;
    private boolean stopped;
    private boolean paused;
    private boolean holding;

    public PduReader(PduReceiver receiver) { this.receiver = receiver; }

    /** Sets the framing from the next PDU on. */
    public void framing(Framing framing) {
        next = framing;
    }

    /** Stops delivery, also of the remaining bytes being consumed. */
    public void stop() {
        stopped = true;
        destination = null;
        data = MemorySegment.NULL;
    }

    /**
     * Suspends delivery of PDUs, even complete ones, until called with false. Received bytes are kept for the next call
     * of {@link #consume}, which then needs no data from the network. Callable from inside a call to the receiver.
     */
    public void pause(boolean on) { paused = on; }

    /** Whether a turn may have PDUs to deliver without anything from the network, since a pause held them back. */
    public boolean isHolding() {
        return holding;
    }

    /** Whether the stream is inside a PDU, of which some but not all bytes have been received. */
    public boolean inPdu() {
        return phase != Phase.HEADER || keptLength > 0;
    }

    /**
     * Whether all that was received after the last PDU of a login is a TLS alert (RFC 8446 section 6), with which a
     * portal with TLS answers a login without TLS. 0x15 is not an opcode of a target.
     */
    public boolean holdsTlsAlert() {
        return phase == Phase.HEADER && next.equals(Framing.LOGIN)
                && keptLength == TLS_ALERT_LENGTH && kept[0] == TLS_ALERT
                && kept[1] == TLS_MAJOR_VERSION;
    }

    /**
     * Where the next bytes from the network belong, to be filled before anything is read into the staging buffer. Null
     * if they belong there: not an Optional, which each read would allocate.
     */
    public @Nullable ByteBuffer destination() { return destination; }

    /**
     * Returns how many bytes should be read into the staging buffer after the restored ones, given the available room.
     */
    public int wanted(int room) {
        return latestLength >= LONG_BYTES ? Math.min(room, LITTLE_BYTES) : room;
    }

    /** Copies the unconsumed bytes of the last read to the front of the staging buffer; returns their number. */
    public int restore(MemorySegment staging) {
        MemorySegment.copy(kept, 0, staging, ValueLayout.JAVA_BYTE, 0, keptLength);
        if (kept.length > MAX_HEADER) {
            kept = new byte[MAX_HEADER];
        }
        return keptLength;
    }

    /**
     * Consumes bytes that were read.
     *
     * @param staging the staging buffer, from its front
     * @param length number of bytes in it, including the restored ones
     * @throws IscsiException if the stream breaks a rule; the stream must not be read further
     */
    public void consume(MemorySegment staging, int length) throws IscsiException {
        staged = null;
        int at = 0;
        while (!stopped && !(paused && phase == Phase.HEADER)) {
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
        holding = paused && phase == Phase.HEADER && keptLength > 0;
        assert holding || keptLength < MAX_HEADER : keptLength;
        if (keptLength > kept.length) {
            kept = new byte[keptLength];
        }
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
        if (framing.headerDigest() && crc.reset().update(staged(staging, at, segments))
                .wire() != staging.get(WIRE_INT, at + segments)) {
            throw new DigestException("header digest error (RFC 7143 section 7.8)");
        }
        MemorySegment ahsSegment = ahs == 0
                ? MemorySegment.NULL
                : staging.asSlice(at + Bhs.LENGTH, ahs);
        if (dataLength == 0) {
            receiver.received(bhs, ahsSegment, MemorySegment.NULL);
            return headers;
        }
        latestLength = dataLength;
        data = receiver.dataDestination(bhs, ahsSegment, dataLength);
        if (stopped) {
            data = MemorySegment.NULL;
            return headers;
        }
        if (!data.equals(MemorySegment.NULL) && data.byteSize() != dataLength) {
            throw new IllegalStateException("a destination of " + data.byteSize()
                    + " bytes for a data segment of " + dataLength);
        }
        crc.reset();
        int whole = headers + dataLength + trailerLength(dataLength);
        if (available >= whole) {
            int dataAt = at + headers;
            boolean right = !framing.dataDigest() || digestOfData(staging, dataAt,
                    whole - headers - DIGEST_LENGTH) == staging.get(WIRE_INT,
                            at + whole - DIGEST_LENGTH);
            if (data.equals(MemorySegment.NULL)) {
                data = staging.asSlice(dataAt, dataLength);
            } else if (right) {
                MemorySegment.copy(staging, dataAt, data, 0, dataLength);
            }
            deliver(ahsSegment, right);
            return whole;
        }
        MemorySegment.copy(staging, ValueLayout.JAVA_BYTE, at, header, 0, segments);
        ahsLength = ahs;
        if (data.equals(MemorySegment.NULL)) {
            data = MemorySegment.ofArray(new byte[dataLength]);
        }
        filled = 0;
        destination = data.isNative() && dataLength >= STRAIGHT_BYTES
                ? views.of(data).clear()
                : null;
        phase = Phase.DATA;
        return headers;
    }

    private int data(MemorySegment staging, int at, int available) {
        int length = (int) data.byteSize();
        ByteBuffer to = destination;
        if (to != null && to.position() > filled) {
            int end = to.position();
            if (framing.dataDigest()) {
                crc.update(to.limit(end).position(filled)); // while they are in the processor's cache
            }
            filled = end;
        }
        int taken = Math.min(available, length - filled);
        if (taken > 0) {
            MemorySegment.copy(staging, at, data, filled, taken);
            if (framing.dataDigest()) {
                crc.update(staged(staging, at, taken));
            }
            filled += taken;
        }
        if (filled < length) {
            destination = to != null && length - filled >= STRAIGHT_BYTES
                    ? to.limit(length).position(filled)
                    : null;
            return taken > 0 ? taken : -1;
        }
        destination = null;
        phase = Phase.TRAILER;
        return taken;
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
            right = digestOfData(staging, at, trailer - DIGEST_LENGTH) == came;
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

    /** Ends the digest of a data segment, which covers its padding (RFC 7143 section 11.2.4). */
    private int digestOfData(MemorySegment staging, int at, int length) {
        return crc.update(staged(staging, at, length)).wire();
    }

    private ByteBuffer staged(MemorySegment staging, int at, int length) {
        ByteBuffer bytes = staged;
        if (bytes == null) {
            bytes = views.of(staging);
            staged = bytes;
        }
        return bytes.limit(at + length).position(at);
    }

    private String name() { return String.format("%02Xh", bhs.opcode()); }
}
