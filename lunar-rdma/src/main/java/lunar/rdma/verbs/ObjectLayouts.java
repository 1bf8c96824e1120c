package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static lunar.rdma.posix.Structs.at;
import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import lunar.rdma.posix.Structs;

/** Layouts of the structs that libibverbs allocates, with the fields that are read. */
final class ObjectLayouts {
    static final StructLayout DEVICE = Structs.foreign("ibv_device", //
            at(20, "transport_type", JAVA_INT), //
            at(24, "name", MemoryLayout.sequenceLayout(64, JAVA_BYTE)));
    static final long DEVICE_NAME = offset(DEVICE, "name");
    static final long DEVICE_TRANSPORT_TYPE = offset(DEVICE, "transport_type");

    /** The context has a table of the data path functions, which are inline functions in C. */
    static final StructLayout CONTEXT = Structs.foreign("ibv_context", //
            at(0, "device", JAVA_LONG), //
            at(96, "poll_cq", JAVA_LONG), //
            at(104, "req_notify_cq", JAVA_LONG), //
            at(168, "post_srq_recv", JAVA_LONG), //
            at(208, "post_send", JAVA_LONG), //
            at(216, "post_recv", JAVA_LONG), //
            at(268, "async_fd", JAVA_INT));
    static final long CONTEXT_DEVICE = offset(CONTEXT, "device");
    static final long CONTEXT_POLL_CQ = offset(CONTEXT, "poll_cq");
    static final long CONTEXT_REQ_NOTIFY_CQ = offset(CONTEXT, "req_notify_cq");
    static final long CONTEXT_POST_SRQ_RECV = offset(CONTEXT, "post_srq_recv");
    static final long CONTEXT_POST_SEND = offset(CONTEXT, "post_send");
    static final long CONTEXT_POST_RECV = offset(CONTEXT, "post_recv");

    static final long CONTEXT_ASYNC_FD = offset(CONTEXT, "async_fd");

    /** The element is a union of pointers and the number of a port. */
    static final StructLayout ASYNC_EVENT = Structs.foreign("ibv_async_event", //
            at(0, "element", JAVA_LONG), //
            at(8, "event_type", JAVA_INT));
    static final long ASYNC_EVENT_ELEMENT = offset(ASYNC_EVENT, "element");
    static final long ASYNC_EVENT_TYPE = offset(ASYNC_EVENT, "event_type");

    static final StructLayout MEMORY = Structs.foreign("ibv_mr", //
            at(36, "lkey", JAVA_INT), //
            at(40, "rkey", JAVA_INT));
    static final long MEMORY_LKEY = offset(MEMORY, "lkey");
    static final long MEMORY_RKEY = offset(MEMORY, "rkey");

    static final StructLayout CHANNEL = Structs.foreign("ibv_comp_channel", at(8, "fd", JAVA_INT));
    static final long CHANNEL_FD = offset(CHANNEL, "fd");

    static final StructLayout QUEUE_PAIR = Structs.foreign("ibv_qp", at(52, "qp_num", JAVA_INT));
    static final long QUEUE_PAIR_NUMBER = offset(QUEUE_PAIR, "qp_num");

    private ObjectLayouts() {}

    /** Returns the descriptor of a completion channel. */
    static int channelDescriptor(long channel) {
        return NativeLibrary.at(channel, CHANNEL.byteSize()).get(JAVA_INT, CHANNEL_FD);
    }
}
