package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static lunar.rdma.posix.Structs.at;
import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.StructLayout;
import lunar.rdma.posix.Structs;

/** Layouts of the attributes with which objects are created, queried and connected. */
final class AttributeLayouts {
    static final StructLayout QP_INIT = Structs.allocated("ibv_qp_init_attr", 64, //
            at(8, "send_cq", JAVA_LONG), //
            at(16, "recv_cq", JAVA_LONG), //
            at(24, "srq", JAVA_LONG), //
            at(32, "max_send_wr", JAVA_INT), //
            at(36, "max_recv_wr", JAVA_INT), //
            at(40, "max_send_sge", JAVA_INT), //
            at(44, "max_recv_sge", JAVA_INT), //
            at(48, "max_inline_data", JAVA_INT), //
            at(52, "qp_type", JAVA_INT));
    static final long QP_INIT_SEND_CQ = offset(QP_INIT, "send_cq");
    static final long QP_INIT_RECV_CQ = offset(QP_INIT, "recv_cq");
    static final long QP_INIT_SRQ = offset(QP_INIT, "srq");
    static final long QP_INIT_MAX_SEND_WR = offset(QP_INIT, "max_send_wr");
    static final long QP_INIT_MAX_RECV_WR = offset(QP_INIT, "max_recv_wr");
    static final long QP_INIT_MAX_SEND_SGE = offset(QP_INIT, "max_send_sge");
    static final long QP_INIT_MAX_RECV_SGE = offset(QP_INIT, "max_recv_sge");
    static final long QP_INIT_MAX_INLINE_DATA = offset(QP_INIT, "max_inline_data");
    static final long QP_INIT_QP_TYPE = offset(QP_INIT, "qp_type");

    static final StructLayout QP = Structs.allocated("ibv_qp_attr", 144, //
            at(0, "qp_state", JAVA_INT));
    static final long QP_STATE = offset(QP, "qp_state");

    static final StructLayout SRQ_INIT = Structs.allocated("ibv_srq_init_attr", 24, //
            at(8, "max_wr", JAVA_INT), //
            at(12, "max_sge", JAVA_INT));
    static final long SRQ_INIT_MAX_WR = offset(SRQ_INIT, "max_wr");
    static final long SRQ_INIT_MAX_SGE = offset(SRQ_INIT, "max_sge");

    static final StructLayout DEVICE = Structs.allocated("ibv_device_attr", 232, //
            at(112, "max_qp_wr", JAVA_INT), //
            at(116, "device_cap_flags", JAVA_INT), //
            at(120, "max_sge", JAVA_INT), //
            at(132, "max_cqe", JAVA_INT), //
            at(144, "max_qp_rd_atom", JAVA_INT), //
            at(156, "max_qp_init_rd_atom", JAVA_INT), //
            at(216, "max_srq_wr", JAVA_INT));
    static final long DEVICE_MAX_QP_WR = offset(DEVICE, "max_qp_wr");
    static final long DEVICE_CAP_FLAGS = offset(DEVICE, "device_cap_flags");
    static final long DEVICE_MAX_SGE = offset(DEVICE, "max_sge");
    static final long DEVICE_MAX_CQE = offset(DEVICE, "max_cqe");
    static final long DEVICE_MAX_QP_RD_ATOM = offset(DEVICE, "max_qp_rd_atom");
    static final long DEVICE_MAX_QP_INIT_RD_ATOM = offset(DEVICE, "max_qp_init_rd_atom");
    static final long DEVICE_MAX_SRQ_WR = offset(DEVICE, "max_srq_wr");

    static final StructLayout PORT = Structs.allocated("ibv_port_attr", 52, //
            at(0, "state", JAVA_INT), //
            at(20, "max_msg_sz", JAVA_INT), //
            at(46, "link_layer", JAVA_BYTE));
    static final long PORT_STATE = offset(PORT, "state");
    static final long PORT_MAX_MSG_SZ = offset(PORT, "max_msg_sz");
    static final long PORT_LINK_LAYER = offset(PORT, "link_layer");

    static final StructLayout CONNECTION = Structs.allocated("rdma_conn_param", 24, //
            at(0, "private_data", JAVA_LONG), //
            at(8, "private_data_len", JAVA_BYTE), //
            at(9, "responder_resources", JAVA_BYTE), //
            at(10, "initiator_depth", JAVA_BYTE), //
            at(11, "flow_control", JAVA_BYTE), //
            at(12, "retry_count", JAVA_BYTE), //
            at(13, "rnr_retry_count", JAVA_BYTE), //
            at(14, "srq", JAVA_BYTE));
    static final long CONNECTION_PRIVATE_DATA = offset(CONNECTION, "private_data");
    static final long CONNECTION_PRIVATE_DATA_LEN = offset(CONNECTION, "private_data_len");
    static final long CONNECTION_RESPONDER_RESOURCES = offset(CONNECTION, "responder_resources");
    static final long CONNECTION_INITIATOR_DEPTH = offset(CONNECTION, "initiator_depth");
    static final long CONNECTION_FLOW_CONTROL = offset(CONNECTION, "flow_control");
    static final long CONNECTION_RETRY_COUNT = offset(CONNECTION, "retry_count");
    static final long CONNECTION_RNR_RETRY_COUNT = offset(CONNECTION, "rnr_retry_count");
    static final long CONNECTION_SRQ = offset(CONNECTION, "srq");

    private AttributeLayouts() {}
}
