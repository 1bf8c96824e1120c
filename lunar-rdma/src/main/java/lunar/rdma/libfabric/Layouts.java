package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.number;
import static lunar.rdma.posix.Structs.struct;
import static lunar.rdma.posix.Structs.word;

import java.lang.foreign.StructLayout;
import java.util.List;

/**
 * Structs of libfabric's headers (rdma/fabric.h and its companions), up to the last member that is used. Checked by a
 * test against a C compiler's {@code offsetof}.
 */
final class Layouts {
    private Layouts() {}

    static final StructLayout FID = struct("fid", word("fclass"), word("context"), word("ops"));
    static final StructLayout INFO = struct("fi_info", word("next"), word("caps"), word("mode"),
            number("addr_format"), word("src_addrlen"), word("dest_addrlen"), word("src_addr"),
            word("dest_addr"), word("handle"), word("tx_attr"), word("rx_attr"), word("ep_attr"),
            word("domain_attr"), word("fabric_attr"), word("nic"));
    static final StructLayout TX_ATTR = struct("fi_tx_attr", word("caps"), word("mode"),
            word("op_flags"), word("msg_order"), word("comp_order"), word("inject_size"),
            word("size"), word("iov_limit"), word("rma_iov_limit"), number("tclass"));
    static final StructLayout RX_ATTR = struct("fi_rx_attr", word("caps"), word("mode"),
            word("op_flags"), word("msg_order"), word("comp_order"), word("total_buffered_recv"),
            word("size"), word("iov_limit"));
    static final StructLayout EP_ATTR = struct("fi_ep_attr", number("type"), number("protocol"),
            number("protocol_version"), word("max_msg_size"), word("msg_prefix_size"));
    static final StructLayout DOMAIN_ATTR = struct("fi_domain_attr", word("domain"), word("name"),
            number("threading"), number("control_progress"), number("data_progress"),
            number("resource_mgmt"), number("av_type"), number("mr_mode"), word("mr_key_size"),
            word("cq_data_size"), word("cq_cnt"), word("ep_cnt"));
    static final StructLayout FABRIC_ATTR = struct("fi_fabric_attr", word("fabric"), word("name"),
            word("prov_name"), number("prov_version"), number("api_version"));

    static final StructLayout FABRIC = struct("fid_fabric", FID.withName("fid"), word("ops"),
            number("api_version"));
    static final StructLayout DOMAIN = struct("fid_domain", FID.withName("fid"), word("ops"),
            word("mr"));
    static final StructLayout EP = struct("fid_ep", FID.withName("fid"), word("ops"), word("cm"),
            word("msg"), word("rma"));
    static final StructLayout PEP = struct("fid_pep", FID.withName("fid"), word("ops"),
            word("cm"));
    static final StructLayout EQ = struct("fid_eq", FID.withName("fid"), word("ops"));
    static final StructLayout CQ = struct("fid_cq", FID.withName("fid"), word("ops"));
    static final StructLayout AV = struct("fid_av", FID.withName("fid"), word("ops"));
    static final StructLayout MR = struct("fid_mr", FID.withName("fid"), word("mem_desc"),
            word("key"));

    static final StructLayout OPS = struct("fi_ops", word("size"), word("close"), word("bind"),
            word("control"));
    static final StructLayout OPS_FABRIC = struct("fi_ops_fabric", word("size"), word("domain"),
            word("passive_ep"), word("eq_open"), word("wait_open"), word("trywait"));
    static final StructLayout OPS_DOMAIN = struct("fi_ops_domain", word("size"), word("av_open"),
            word("cq_open"), word("endpoint"));
    static final StructLayout OPS_MR = struct("fi_ops_mr", word("size"), word("reg"));
    static final StructLayout OPS_EP = struct("fi_ops_ep", word("size"), word("cancel"),
            word("getopt"), word("setopt"));
    static final StructLayout OPS_CM = struct("fi_ops_cm", word("size"), word("setname"),
            word("getname"), word("getpeer"), word("connect"), word("listen"), word("accept"),
            word("reject"), word("shutdown"));
    static final StructLayout OPS_MSG = struct("fi_ops_msg", word("size"), word("recv"),
            word("recvv"), word("recvmsg"), word("send"), word("sendv"), word("sendmsg"));
    static final StructLayout OPS_RMA = struct("fi_ops_rma", word("size"), word("read"),
            word("readv"), word("readmsg"), word("write"), word("writev"), word("writemsg"));
    static final StructLayout OPS_EQ = struct("fi_ops_eq", word("size"), word("read"),
            word("readerr"));
    static final StructLayout OPS_CQ = struct("fi_ops_cq", word("size"), word("read"),
            word("readfrom"), word("readerr"));
    static final StructLayout OPS_AV = struct("fi_ops_av", word("size"), word("insert"),
            word("insertsvc"), word("insertsym"), word("remove"));

    static final StructLayout EQ_ATTR = struct("fi_eq_attr", word("size"), word("flags"),
            number("wait_obj"), number("signaling_vector"), word("wait_set"));
    static final StructLayout CQ_ATTR = struct("fi_cq_attr", word("size"), word("flags"),
            number("format"), number("wait_obj"), number("signaling_vector"), number("wait_cond"),
            word("wait_set"));
    static final StructLayout AV_ATTR = struct("fi_av_attr", number("type"), number("rx_ctx_bits"),
            word("count"), word("ep_per_node"), word("name"), word("map_addr"), word("flags"));
    static final StructLayout EQ_CM_ENTRY = struct("fi_eq_cm_entry", word("fid"), word("info"));
    static final StructLayout EQ_ERR_ENTRY = struct("fi_eq_err_entry", word("fid"),
            word("context"), word("data"), number("err"), number("prov_errno"), word("err_data"),
            word("err_data_size"));
    static final StructLayout CQ_MSG_ENTRY = struct("fi_cq_msg_entry", word("op_context"),
            word("flags"), word("len"));
    static final StructLayout CQ_ERR_ENTRY = struct("fi_cq_err_entry", word("op_context"),
            word("flags"), word("len"), word("buf"), word("data"), word("tag"), word("olen"),
            number("err"), number("prov_errno"), word("err_data"), word("err_data_size"));
    static final StructLayout IOVEC = struct("iovec", word("iov_base"), word("iov_len"));
    static final StructLayout MSG = struct("fi_msg", word("msg_iov"), word("desc"),
            word("iov_count"), word("addr"), word("context"), word("data"));
    static final StructLayout RMA_IOV = struct("fi_rma_iov", word("addr"), word("len"),
            word("key"));
    static final StructLayout MSG_RMA = struct("fi_msg_rma", word("msg_iov"), word("desc"),
            word("iov_count"), word("addr"), word("rma_iov"), word("rma_iov_count"),
            word("context"), word("data"));

    static final List<StructLayout> ALL = List.of(FID, INFO, TX_ATTR, RX_ATTR, EP_ATTR,
            DOMAIN_ATTR, FABRIC_ATTR, FABRIC, DOMAIN, EP, PEP, EQ, CQ, AV, MR, OPS, OPS_FABRIC,
            OPS_DOMAIN, OPS_MR, OPS_EP, OPS_CM, OPS_MSG, OPS_RMA, OPS_EQ, OPS_CQ, OPS_AV, EQ_ATTR,
            CQ_ATTR, AV_ATTR, EQ_CM_ENTRY, EQ_ERR_ENTRY, CQ_MSG_ENTRY, CQ_ERR_ENTRY, IOVEC, MSG,
            RMA_IOV, MSG_RMA);
}
