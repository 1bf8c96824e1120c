package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import lunar.iscsi.DigestException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.session.StatusReceiver;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.text.TargetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a session: sends PDUs by the transport, and passes received ones to the {@link LoginPhase} while that
 * runs and to {@link FullFeature} from then on.
 *
 * <p>Within a session, PDUs are sent under its lock, so that they are queued in CmdSN order; the lock also guards the
 * reused header.
 */
public final class Connection implements PduReceiver {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Maximum number of answers to pings that wait for a target which does not take them. */
    static final int MAX_UNSENT_PONGS = 64;

    /** Maximum for SNACKs, likewise: some for each of many commands, while large writes are queued before them. */
    static final int MAX_UNSENT_SNACKS = 1024;

    /** Receives PDUs in one phase of the connection; on the event loop's thread. */
    interface Phase {
        /** Takes a PDU with data that must not be used (RFC 7143 section 7.8). */
        void damaged(Bhs bhs) throws ProtocolException;

        MemorySegment dataDestination(Bhs bhs, int length) throws ProtocolException;

        void received(Bhs bhs, MemorySegment data) throws ProtocolException;

        void batchEnd();

        /** @param why null where this end closed the connection in order */
        void closed(@Nullable IOException why);
    }

    private static final int DIGEST_BYTES = 4;
    private static final int WORD_MASK = 3;

    private final Transport transport;
    private final int cid;
    private final TargetAddress portal;
    private final MemorySegment header = Arena.ofAuto().allocate(Bhs.LENGTH, 64);
    private final Bhs bhs = new Bhs().wrap(header);
    private @Nullable StatusReceiver status;
    private int firstExpStatSn;
    private int maxSendBytes;
    private boolean placesData;
    private boolean headerDigest;
    private boolean dataDigest;

    /** Wire length of all PDUs queued so far, in bytes; with the session's lock held. */
    private long queuedBytes;
    /** Answers to pings of the target. */
    final UnsentAnswers unsentPongs = new UnsentAnswers(MAX_UNSENT_PONGS);
    /** SNACKs: requests to send lost PDUs again, and acknowledgements of data. */
    final UnsentAnswers unsentSnacks = new UnsentAnswers(MAX_UNSENT_SNACKS);
    /** A negotiation that the target has requested is in progress; event loop's thread only. */
    boolean negotiating;

    /**
     * Number of commands at the target on this connection, and whether it accepts no more; guarded by the session's
     * lock.
     */
    int inFlight;
    boolean draining;

    /** Event loop's thread only. */
    boolean unflushed;
    private @Nullable Phase phase;
    private volatile boolean ended;
    private boolean closing;
    private @Nullable IOException endCause;

    /** @param firstExpStatSn ExpStatSN to send as long as the target has given no StatSN */
    public Connection(Transport transport, int cid, TargetAddress portal, int firstExpStatSn) {
        this.transport = transport;
        this.cid = cid;
        this.portal = portal;
        this.firstExpStatSn = firstExpStatSn;
    }

    EventLoop loop() { return transport.loop(); }

    /** Returns the connection's CID (RFC 7143 section 11.12.7). */
    int cid() { return cid; }

    TargetAddress portal() { return portal; }

    /** Whether it can send; any thread may ask. */
    boolean isOpen() { return !ended; }

    /**
     * Begins with the negotiated parameters, after the login.
     *
     * @param commands most commands of the session that are at the target at a time
     */
    void begin(OperationalParameters parameters, int commands) {
        transport.agreed(parameters, commands);
        framing(parameters.framing(0));
        maxSendBytes = parameters.maxSendDataSegmentLength();
        placesData = transport.placesData();
    }

    /** Whether the transport moves the data of commands itself; from {@link #begin} on. */
    boolean placesData() {
        return placesData;
    }

    public Transport transport() { return transport; }

    /** Passes received PDUs to a phase from now on; on the event loop's thread. */
    public void enter(Phase next) {
        phase = next;
    }

    private void framing(Framing framing) {
        transport.framing(framing);
        headerDigest = framing.headerDigest();
        dataDigest = framing.dataDigest();
    }

    /**
     * Sets the target's MaxRecvDataSegmentLength, which it may declare anew. No effect where the transport places data:
     * other keys, which only a login negotiates, stand for it (RFC 7145 section 6).
     */
    void maxSendBytes(int bytes) {
        if (!placesData) {
            maxSendBytes = bytes;
        }
    }

    int maxSendBytes() { return maxSendBytes; }

    /** Follows StatSN from the first response on. */
    void status(StatusReceiver receiver) {
        status = receiver;
    }

    StatusReceiver status() { return Objects.requireNonNull(status); }

    int expStatSn() {
        StatusReceiver known = status;
        return known == null ? firstExpStatSn : known.expStatSn();
    }

    // --- sending ---

    /** Sends what is queued. */
    void flush() { transport.flush(); }

    /** Returns the position in the output where the latest PDU ends; with the session's lock held. */
    long queuedBytes() {
        return queuedBytes;
    }

    /**
     * Returns the number of bytes that the network has accepted; requires the session's lock. After a PDU was queued,
     * includes everything written before, by any thread.
     */
    long sentBytes() { return queuedBytes - transport.queuedBytes(); }

    private void count(MemorySegment headers, MemorySegment data) {
        long length = data.byteSize();
        queuedBytes += headers.byteSize() + (headerDigest ? DIGEST_BYTES : 0) + length
                + (-length & WORD_MASK) + (dataDigest && length > 0 ? DIGEST_BYTES : 0);
    }

    /** Queues a PDU that is not on the hot path. The data are copied where they do not belong to this connection. */
    void send(InitiatorPdu pdu, MemorySegment data) {
        pdu.encode(bhs);
        bhs.lengths(0, (int) data.byteSize());
        send(header, data, Transport.Release.NOTHING);
    }

    /** Queues a PDU whose data the transport may use until it releases them; with the session's lock held. */
    void send(MemorySegment headers, MemorySegment data, Transport.Release release) {
        count(headers, data);
        transport.send(headers, data, release);
    }

    /** Queues a command whose buffers the transport may access until it releases them; with the session's lock held. */
    void sendCommand(MemorySegment headers, MemorySegment data, Command command) {
        count(headers, data);
        transport.sendCommand(headers, data, command.dataIn, command.dataOut, command);
    }

    /** Has the transport release the buffers of a command that has ended without a response. */
    void withdraw(int itt) {
        transport.withdraw(itt);
    }

    // --- ending ---

    /** Ends the connection in order; on the event loop's thread. */
    void close() {
        closing = true;
        transport.close();
    }

    /**
     * Ends the connection for a reason, with a reset: commands that are still on their way out must not reach the
     * target after they were given up here. A connection that is closing in order after its Logout continues with that.
     * Any thread.
     */
    void end(IOException why) {
        if (loop().inLoop()) {
            if (closing) {
                return;
            }
            if (endCause == null) {
                endCause = why;
            }
            transport.abort();
        } else {
            loop().execute(() -> end(why));
        }
    }

    // --- receiving ---

    @Override
    public MemorySegment dataDestination(Bhs received, MemorySegment ahs, int length)
            throws ProtocolException {
        return current().dataDestination(received, length);
    }

    @Override
    public void received(Bhs received, MemorySegment ahs, MemorySegment data)
            throws ProtocolException {
        current().received(received, data);
    }

    String peer() {
        return transport.remote().getHostString() + ":" + transport.remote().getPort();
    }

    private Phase current() throws ProtocolException {
        Phase now = phase;
        if (now == null) {
            throw new ProtocolException("the target sends before the login (RFC 7143 section 6.1)");
        }
        return now;
    }

    @Override
    public void dataDigestError(Bhs received) throws ProtocolException {
        current().damaged(received);
    }

    /** Returns the failure that ends this connection: damaged data that only another connection can recover. */
    ProtocolException damage(Bhs received) {
        var why = new DigestException("data digest of PDU " + Integer.toHexString(received.opcode())
                + "h from " + peer() + " does not match (RFC 7143 section 7.8)");
        endCause = why;
        return new ProtocolException(String.valueOf(why.getMessage()));
    }

    @Override
    public void batchEnd() {
        Phase now = phase;
        if (now != null) {
            now.batchEnd();
        }
        transport.flush();
    }

    @Override
    public void closed(@Nullable IOException cause) {
        ended = true;
        IOException why = endCause != null ? endCause : cause;
        if (why == null && !closing) {
            why = new IOException(peer() + " closed the connection");
        }
        LOG.log(System.Logger.Level.DEBUG, "connection to {0} ended: {1}", peer(),
                why == null ? "in order" : why.toString());
        Phase now = phase;
        phase = null;
        if (now != null) {
            now.closed(why);
        }
    }
}
