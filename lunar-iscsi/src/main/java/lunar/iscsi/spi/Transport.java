package lunar.iscsi.spi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.WritableByteChannel;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.OperationalParameters;

/**
 * Connection that transfers PDUs in order (RFC 7143 section 4.2), similar to the Datamover of RFC 5047. The transport
 * adds and checks the wire-level parts: header and data digests, padding, and for iSER the RDMA operations that replace
 * Data-In and R2T.
 */
public interface Transport extends AutoCloseable {
    /** Releases a data segment handed to {@link #send} that is no longer needed. Runs on any thread. */
    @FunctionalInterface
    interface Release {
        /** Does nothing: for data that need not be given back. */
        Release NOTHING = () -> {};

        void release();
    }

    /**
     * Queues one PDU; {@link #flush} sends what is queued. Callable from any thread; PDUs leave in the order of
     * the calls. After close the PDU is dropped and its data released.
     *
     * @param header basic header segment and additional header segments, with TotalAHSLength and
     *        DataSegmentLength set; copied before the call returns
     * @param data data segment without padding, {@code DataSegmentLength} bytes; read until released
     * @param release called exactly once, when {@code data} may be reused; possibly after the receiver's
     *        {@code closed}, while the rest of the queue is sent. A call that throws has queued nothing and releases
     *        nothing
     */
    void send(MemorySegment header, MemorySegment data, Release release);

    /** Where data lie that are sent without passing through our memory. */
    @FunctionalInterface
    interface Source {
        /**
         * Writes bytes to the peer's channel on the calling thread; fewer if the channel accepts no more now.
         *
         * @throws IOException if they cannot be read: the connection ends, because their header has been sent
         */
        long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
                throws IOException;
    }

    /** Whether {@link #transfer} is possible now: it is not with a data digest, for which data must be read. */
    default boolean transfers() {
        return false;
    }

    /**
     * Queues one PDU, as {@link #send} does; the source writes the data when its turn has come.
     *
     * @param header copied before the call returns; its DataSegmentLength, a multiple of 4, is the number of bytes
     * @param offsetBytes offset of the first byte at the source
     */
    default void transfer(MemorySegment header, Source from, long offsetBytes, Release release) {
        throw new UnsupportedOperationException("this transport does not support direct transfers");
    }

    // --- transports that place data ---

    /**
     * Whether this transport moves the data of commands itself, between the memory of both ends, as iSER does by RDMA
     * (RFC 7145). With such a transport, solicited data is not delivered as PDUs:
     *
     * <ul>
     * <li>The initiator sends commands by {@link #sendCommand} and receives neither Data-In nor R2T.
     * <li>The target sends Data-In by {@link #send} as usual, but never with a status in them, and R2Ts by
     * {@link #fetch}.
     * </ul>
     *
     * <p>Immediate and unsolicited data are sent in PDUs, by any transport. The buffers of a task do not move to
     * another connection: such a transport negotiates ErrorRecoveryLevel 0 or 1. Constant from the end of the login
     * on.
     */
    default boolean placesData() { return false; }

    /**
     * Adapts the values that this end wants of a login to what the transport can do. A transport that {@linkplain
     * #placesData places data} wants RDMAExtensions and the keys that belong to it (RFC 7145 section 6), no digests and
     * no ErrorRecoveryLevel 2. Any thread.
     */
    default Offer offer(Offer wanted) { return wanted; }

    /**
     * Sets what the login has agreed on, before {@link #framing}. Loop's thread.
     *
     * @param commands most commands that this end lets be outstanding
     */
    default void agreed(OperationalParameters parameters, int commands) {}

    /**
     * Queues a SCSI Command at the initiator, as {@link #send} does, with the command's buffers. A transport that
     * {@linkplain #placesData places data} accesses them directly until it releases them: before it delivers the SCSI
     * Response, after {@link #withdraw}, or before {@link lunar.iscsi.framing.PduReceiver#closed}. Other transports
     * use {@code data} only.
     *
     * @param data immediate data, a part of {@code dataOut}
     * @param dataIn where data-in go; NULL for none
     * @param dataOut all data-out; NULL for none
     * @param release called exactly once, when {@code data}, {@code dataIn} and {@code dataOut} may be reused
     */
    default void sendCommand(MemorySegment header, MemorySegment data, MemorySegment dataIn,
            MemorySegment dataOut, Release release) {
        send(header, data, release);
    }

    /**
     * Ends the access to the buffers of a command that ends without a SCSI Response, such as an aborted one. At the
     * initiator, the buffers are released when the peer can access them no more, never from inside this call. At the
     * target, the transport forgets the initiator's buffers; it still sends what is queued. No effect if the transport
     * does not have the buffers. May be called by any thread.
     *
     * @param itt initiator task tag of the command
     */
    default void withdraw(int itt) {}

    /**
     * Requests data-out at the target: queues an R2T, or fetches its data from the initiator's memory. The receiver
     * then gets them like those of a Data-Out PDU that answers the R2T with all its data ({@code F} set, DataSN 0); its
     * {@code dataDestination} is not called.
     *
     * @param r2t header of the R2T; copied before the call returns
     * @param into memory for as many bytes as the R2T requests; written until released
     * @param release called exactly once, before the receiver gets the data, or when the data does not arrive
     * @throws UnsupportedOperationException if this transport does not {@linkplain #placesData place data}
     */
    default void fetch(MemorySegment r2t, MemorySegment into, Release release) {
        throw new UnsupportedOperationException("this transport does not place data");
    }

    /** Sends queued PDUs as far as the peer accepts them now; the loop sends the rest. May be called by any thread. */
    void flush();

    /** Bytes queued and not yet taken by the network: a producer of much data stops above a limit. */
    long queuedBytes();

    /**
     * Memory that the queue has of the transport: headers, and data that were copied. Data that are sent from where
     * they lie are not in it.
     */
    default long bufferedBytes() { return queuedBytes(); }

    /** Whether the queue has so much of the transport's memory that other connections may find none. */
    default boolean isCrowding() {
        return false;
    }

    /**
     * Sets what the framing obeys from the next PDU on in each direction; called on the loop's thread, for the
     * receiving side between two PDUs. Login ends with this.
     */
    void framing(Framing framing);

    /** The loop that owns this connection. */
    EventLoop loop();

    /**
     * Moves the connection to another loop of the same group, which owns it from then on: bytes read so far are
     * delivered before, later ones after. Called on the current loop's thread only, once per connection.
     *
     * @param then runs on the new loop's thread before anything else of this connection does; not if the connection
     *        ends before
     */
    void moveTo(EventLoop other, Runnable then);

    /** Address of the peer. */
    InetSocketAddress remote();

    /** The address at which the peer reached us, or we bound. */
    InetSocketAddress local();

    /**
     * Stops or resumes reading from the peer (back-pressure). A PDU whose header was delivered is completed if the rest
     * has been received; no other PDU is delivered, even if received. While reading is stopped, a close by the peer is
     * not detected. Called on the loop's thread only, also from inside a call to the receiver.
     */
    void reading(boolean on);

    /**
     * Sends queued PDUs within a bounded time, then ends the connection in order: after a Logout, or after a last
     * response. The receiver's {@code closed} is called. May be called by any thread.
     */
    @Override
    void close();

    /**
     * Ends the connection immediately: data queued here or in the operating system is discarded, and the peer gets a
     * reset. Used for every end that is not orderly, because a command that the caller has given up must not reach the
     * target afterwards. The receiver's {@code closed} is called; data is released. May be called by any thread;
     * idempotent, and overrides a running {@link #close}.
     */
    void abort();
}
