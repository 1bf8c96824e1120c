package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * A copy of a struct rdma_cm_event, so that it can be acknowledged before it is handled: an id with events that are not
 * acknowledged cannot be destroyed.
 */
final class CmEvent {
    private final long id;
    private final long listener;
    private final int type;
    private final int status;
    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;

    /** Copies the event at an address. */
    CmEvent(long address) {
        MemorySegment event = NativeLibrary.at(address, CmLayouts.EVENT.byteSize());
        id = event.get(JAVA_LONG, CmLayouts.EVENT_ID);
        listener = event.get(JAVA_LONG, CmLayouts.EVENT_LISTEN_ID);
        type = event.get(JAVA_INT, CmLayouts.EVENT_EVENT);
        status = event.get(JAVA_INT, CmLayouts.EVENT_STATUS);
        long data = event.get(JAVA_LONG, CmLayouts.EVENT_PRIVATE_DATA);
        int length = unsigned(event, CmLayouts.EVENT_PRIVATE_DATA_LEN);
        privateData = data == 0 ? new byte[0] : NativeLibrary.at(data, length).toArray(JAVA_BYTE);
        responderResources = unsigned(event, CmLayouts.EVENT_RESPONDER_RESOURCES);
        initiatorDepth = unsigned(event, CmLayouts.EVENT_INITIATOR_DEPTH);
    }

    private static int unsigned(MemorySegment event, long offset) {
        return Byte.toUnsignedInt(event.get(JAVA_BYTE, offset));
    }

    /** Address of the id; for a connection request, this is a new id. */
    long id() { return id; }

    /** Address of the id whose handler gets the event; for a connection request, this is the listening id. */
    long owner() {
        return listener == 0 ? id : listener;
    }

    /** An {@code RDMA_CM_EVENT} constant. */
    int type() { return type; }

    /** 0, a negative error number, or a reason of the transport. */
    int status() { return status; }

    byte[] privateData() { return privateData.clone(); }

    /** Most RDMA reads that the peer wants to have in flight; for a connection request. */
    int responderResources() {
        return responderResources;
    }

    /** Most RDMA reads that the peer lets this side have in flight; for a connection request. */
    int initiatorDepth() {
        return initiatorDepth;
    }
}
