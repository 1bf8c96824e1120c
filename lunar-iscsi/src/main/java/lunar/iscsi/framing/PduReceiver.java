package lunar.iscsi.framing;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import org.jspecify.annotations.Nullable;

/**
 * Receives the PDUs of a connection, on its loop's thread. A {@link ProtocolException} thrown by any of these methods
 * ends this connection only.
 */
public interface PduReceiver {
    /**
     * The headers of a PDU with data are complete and their digest is right: where shall the data go?
     *
     * @param bhs the basic header; valid during the call
     * @param ahs the additional header segments; valid during the call
     * @param length bytes of the data segment, within the limit of the framing, not 0
     * @return a segment of exactly {@code length} bytes, which the transport fills before {@link #received}; or
     *         {@link MemorySegment#NULL} to have it in the transport's own buffer
     */
    MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) throws ProtocolException;

    /**
     * A PDU is complete and its digests are right.
     *
     * @param bhs the basic header; valid during the call
     * @param ahs the additional header segments; valid during the call
     * @param data the data segment without padding; valid during the call, where it is the transport's own
     */
    void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException;

    /**
     * Receives a PDU with a wrong data digest; its data are not to be used (RFC 7143 section 7.8). A wrong header
     * digest is a ProtocolException of the framing, since the stream cannot be trusted any longer.
     */
    void dataDigestError(Bhs bhs) throws ProtocolException;

    /** Every PDU which one read from the network brought has been delivered: answer them together. */
    void batchEnd() throws ProtocolException;

    /**
     * Called when the connection has ended; only releases of data follow. Called exactly once, and never from inside
     * another call to the receiver or the transport. {@code cause} is null if either end closed it in order, that is,
     * between two PDUs.
     */
    void closed(@Nullable IOException cause);
}
