package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static lunar.rdma.posix.Structs.at;
import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import lunar.rdma.posix.SocketAddresses;
import lunar.rdma.posix.Structs;

/** Layouts of the structs that librdmacm allocates, with the fields that are read. */
final class CmLayouts {
    static final StructLayout CHANNEL = Structs.foreign("rdma_event_channel",
            at(0, "fd", JAVA_INT));
    static final long CHANNEL_FD = offset(CHANNEL, "fd");

    static final StructLayout ID = Structs.foreign("rdma_cm_id", //
            at(0, "verbs", JAVA_LONG), //
            at(24, "qp", JAVA_LONG), //
            at(32, "src_addr", MemoryLayout.sequenceLayout(SocketAddresses.MAX_BYTES, JAVA_BYTE)), //
            at(160, "dst_addr", MemoryLayout.sequenceLayout(SocketAddresses.MAX_BYTES, JAVA_BYTE)));
    static final long ID_VERBS = offset(ID, "verbs");
    static final long ID_QP = offset(ID, "qp");
    static final long ID_SRC_ADDR = offset(ID, "src_addr");
    static final long ID_DST_ADDR = offset(ID, "dst_addr");

    /** The last four fields are of struct rdma_conn_param in a union. */
    static final StructLayout EVENT = Structs.foreign("rdma_cm_event", //
            at(0, "id", JAVA_LONG), //
            at(8, "listen_id", JAVA_LONG), //
            at(16, "event", JAVA_INT), //
            at(20, "status", JAVA_INT), //
            at(24, "private_data", JAVA_LONG), //
            at(32, "private_data_len", JAVA_BYTE), //
            at(33, "responder_resources", JAVA_BYTE), //
            at(34, "initiator_depth", JAVA_BYTE));
    static final long EVENT_ID = offset(EVENT, "id");
    static final long EVENT_LISTEN_ID = offset(EVENT, "listen_id");
    static final long EVENT_EVENT = offset(EVENT, "event");
    static final long EVENT_STATUS = offset(EVENT, "status");
    static final long EVENT_PRIVATE_DATA = offset(EVENT, "private_data");
    static final long EVENT_PRIVATE_DATA_LEN = offset(EVENT, "private_data_len");
    static final long EVENT_RESPONDER_RESOURCES = offset(EVENT, "responder_resources");
    static final long EVENT_INITIATOR_DEPTH = offset(EVENT, "initiator_depth");

    private CmLayouts() {}

    /** Returns the descriptor of an event channel. */
    static int channelDescriptor(long channel) {
        return NativeLibrary.at(channel, CHANNEL.byteSize()).get(JAVA_INT, CHANNEL_FD);
    }
}
