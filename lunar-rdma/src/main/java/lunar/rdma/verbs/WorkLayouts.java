package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static lunar.rdma.posix.Structs.at;
import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.StructLayout;
import lunar.rdma.posix.Structs;

/** Layouts of work requests and completions, the structs of the data path. */
final class WorkLayouts {
    /** A piece of registered memory. */
    static final StructLayout SGE = Structs.allocated("ibv_sge", 16, //
            at(0, "addr", JAVA_LONG), //
            at(8, "length", JAVA_INT), //
            at(12, "lkey", JAVA_INT));
    static final long SGE_BYTES = SGE.byteSize();
    static final long SGE_ADDR = offset(SGE, "addr");
    static final long SGE_LENGTH = offset(SGE, "length");
    static final long SGE_LKEY = offset(SGE, "lkey");

    /** The last two fields belong to the union member for RDMA Read and Write. */
    static final StructLayout SEND = Structs.allocated("ibv_send_wr", 128, //
            at(0, "wr_id", JAVA_LONG), //
            at(8, "next", JAVA_LONG), //
            at(16, "sg_list", JAVA_LONG), //
            at(24, "num_sge", JAVA_INT), //
            at(28, "opcode", JAVA_INT), //
            at(32, "send_flags", JAVA_INT), //
            at(36, "invalidate_rkey", JAVA_INT), //
            at(40, "remote_addr", JAVA_LONG), //
            at(48, "rkey", JAVA_INT));
    static final long SEND_BYTES = SEND.byteSize();
    static final long SEND_WR_ID = offset(SEND, "wr_id");
    static final long SEND_SG_LIST = offset(SEND, "sg_list");
    static final long SEND_NUM_SGE = offset(SEND, "num_sge");
    static final long SEND_OPCODE = offset(SEND, "opcode");
    static final long SEND_FLAGS = offset(SEND, "send_flags");
    static final long SEND_INVALIDATE_RKEY = offset(SEND, "invalidate_rkey");
    static final long SEND_REMOTE_ADDR = offset(SEND, "remote_addr");
    static final long SEND_RKEY = offset(SEND, "rkey");

    static final StructLayout RECEIVE = Structs.allocated("ibv_recv_wr", 32, //
            at(0, "wr_id", JAVA_LONG), //
            at(8, "next", JAVA_LONG), //
            at(16, "sg_list", JAVA_LONG), //
            at(24, "num_sge", JAVA_INT));
    static final long RECEIVE_BYTES = RECEIVE.byteSize();
    static final long RECEIVE_WR_ID = offset(RECEIVE, "wr_id");
    static final long RECEIVE_NEXT = offset(RECEIVE, "next");
    static final long RECEIVE_SG_LIST = offset(RECEIVE, "sg_list");
    static final long RECEIVE_NUM_SGE = offset(RECEIVE, "num_sge");

    static final StructLayout COMPLETION = Structs.allocated("ibv_wc", 48, //
            at(0, "wr_id", JAVA_LONG), //
            at(8, "status", JAVA_INT), //
            at(12, "opcode", JAVA_INT), //
            at(20, "byte_len", JAVA_INT), //
            at(24, "invalidated_rkey", JAVA_INT), //
            at(28, "qp_num", JAVA_INT), //
            at(36, "wc_flags", JAVA_INT));
    static final long COMPLETION_BYTES = COMPLETION.byteSize();
    static final long COMPLETION_WR_ID = offset(COMPLETION, "wr_id");
    static final long COMPLETION_STATUS = offset(COMPLETION, "status");
    static final long COMPLETION_OPCODE = offset(COMPLETION, "opcode");
    static final long COMPLETION_BYTE_LEN = offset(COMPLETION, "byte_len");
    static final long COMPLETION_INVALIDATED_RKEY = offset(COMPLETION, "invalidated_rkey");
    static final long COMPLETION_QP_NUM = offset(COMPLETION, "qp_num");
    static final long COMPLETION_FLAGS = offset(COMPLETION, "wc_flags");

    private WorkLayouts() {}
}
