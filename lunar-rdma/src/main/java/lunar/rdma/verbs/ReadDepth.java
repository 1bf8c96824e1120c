package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.ProviderException;

/**
 * Most RDMA reads in flight.
 *
 * @param incoming reads of the peer that this side serves (responder_resources)
 * @param outgoing reads of this side (initiator_depth)
 */
record ReadDepth(int incoming, int outgoing) {
    private static final int MOST = 255; // limit of the fields in the connection set-up

    /** Returns the limits of a device. */
    static ReadDepth ofDevice(VerbsCalls verbs, long context) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment device = DeviceAttributes.query(verbs, context, arena);
            return new ReadDepth(device.get(JAVA_INT, AttributeLayouts.DEVICE_MAX_QP_RD_ATOM),
                    device.get(JAVA_INT, AttributeLayouts.DEVICE_MAX_QP_INIT_RD_ATOM))
                    .atMost(MOST, MOST);
        }
    }

    /** Returns the lesser of these and other limits. */
    ReadDepth atMost(int otherIncoming, int otherOutgoing) {
        return new ReadDepth(Math.min(incoming, otherIncoming), Math.min(outgoing, otherOutgoing));
    }
}
