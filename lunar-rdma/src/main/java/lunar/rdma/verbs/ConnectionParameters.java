package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Fills struct rdma_conn_param. */
final class ConnectionParameters {
    /** Number of retransmissions of an unacknowledged message: the most that the field can hold. */
    private static final int RETRIES = 7;
    /** Receiver-not-ready (RNR) retries of a send; 7 would mean no limit. */
    private static final int RECEIVER_NOT_READY_RETRIES = 6;

    private ConnectionParameters() {}

    /**
     * Fills a struct.
     *
     * @param data private data, which must remain allocated until the struct has been used
     */
    static void write(MemorySegment parameters, ReadDepth reads, boolean sharesReceives,
            MemorySegment data) {
        parameters.set(JAVA_LONG, AttributeLayouts.CONNECTION_PRIVATE_DATA, data.address());
        set(parameters, AttributeLayouts.CONNECTION_PRIVATE_DATA_LEN, (int) data.byteSize());
        set(parameters, AttributeLayouts.CONNECTION_RESPONDER_RESOURCES, reads.incoming());
        set(parameters, AttributeLayouts.CONNECTION_INITIATOR_DEPTH, reads.outgoing());
        set(parameters, AttributeLayouts.CONNECTION_FLOW_CONTROL, 1);
        set(parameters, AttributeLayouts.CONNECTION_RETRY_COUNT, RETRIES);
        set(parameters, AttributeLayouts.CONNECTION_RNR_RETRY_COUNT, RECEIVER_NOT_READY_RETRIES);
        set(parameters, AttributeLayouts.CONNECTION_SRQ, sharesReceives ? 1 : 0);
    }

    private static void set(MemorySegment parameters, long field, int value) {
        parameters.set(JAVA_BYTE, field, (byte) value);
    }
}
