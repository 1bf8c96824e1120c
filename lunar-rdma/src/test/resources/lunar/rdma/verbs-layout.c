/*
 * Prints the layouts and constants of libibverbs, librdmacm and libc that lunar.rdma.verbs uses, one per line:
 *     size STRUCT BYTES
 *     field STRUCT.FIELD OFFSET BYTES
 *     constant NAME VALUE
 * Structs that the libraries allocate have no size here: they end in mutexes, whose size depends on the processor.
 * LayoutsTest compares it, and the file beside this one, which is the output for 64-bit Linux, with what Java assumes.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define SIZE(type) printf("size %s %zu\n", #type, sizeof(struct type))
#define FIELD_AS(type, name, field) \
    printf("field %s.%s %zu %zu\n", #type, name, offsetof(struct type, field), sizeof(((struct type *)0)->field))
#define FIELD(type, field) FIELD_AS(type, #field, field)
#define CONSTANT(name) printf("constant %s %lld\n", #name, (long long)(name))

static void work_requests(void)
{
    SIZE(ibv_sge);
    FIELD(ibv_sge, addr);
    FIELD(ibv_sge, length);
    FIELD(ibv_sge, lkey);

    SIZE(ibv_send_wr);
    FIELD(ibv_send_wr, wr_id);
    FIELD(ibv_send_wr, next);
    FIELD(ibv_send_wr, sg_list);
    FIELD(ibv_send_wr, num_sge);
    FIELD(ibv_send_wr, opcode);
    FIELD(ibv_send_wr, send_flags);
    FIELD(ibv_send_wr, invalidate_rkey);
    FIELD_AS(ibv_send_wr, "remote_addr", wr.rdma.remote_addr);
    FIELD_AS(ibv_send_wr, "rkey", wr.rdma.rkey);

    SIZE(ibv_recv_wr);
    FIELD(ibv_recv_wr, wr_id);
    FIELD(ibv_recv_wr, next);
    FIELD(ibv_recv_wr, sg_list);
    FIELD(ibv_recv_wr, num_sge);

    SIZE(ibv_wc);
    FIELD(ibv_wc, wr_id);
    FIELD(ibv_wc, status);
    FIELD(ibv_wc, opcode);
    FIELD(ibv_wc, byte_len);
    FIELD(ibv_wc, invalidated_rkey);
    FIELD(ibv_wc, qp_num);
    FIELD(ibv_wc, wc_flags);
}

static void attributes(void)
{
    SIZE(ibv_qp_init_attr);
    FIELD(ibv_qp_init_attr, send_cq);
    FIELD(ibv_qp_init_attr, recv_cq);
    FIELD(ibv_qp_init_attr, srq);
    FIELD_AS(ibv_qp_init_attr, "max_send_wr", cap.max_send_wr);
    FIELD_AS(ibv_qp_init_attr, "max_recv_wr", cap.max_recv_wr);
    FIELD_AS(ibv_qp_init_attr, "max_send_sge", cap.max_send_sge);
    FIELD_AS(ibv_qp_init_attr, "max_recv_sge", cap.max_recv_sge);
    FIELD_AS(ibv_qp_init_attr, "max_inline_data", cap.max_inline_data);
    FIELD(ibv_qp_init_attr, qp_type);

    SIZE(ibv_qp_attr);
    FIELD(ibv_qp_attr, qp_state);

    SIZE(ibv_srq_init_attr);
    FIELD_AS(ibv_srq_init_attr, "max_wr", attr.max_wr);
    FIELD_AS(ibv_srq_init_attr, "max_sge", attr.max_sge);

    SIZE(ibv_device_attr);
    FIELD(ibv_device_attr, max_qp_wr);
    FIELD(ibv_device_attr, device_cap_flags);
    FIELD(ibv_device_attr, max_sge);
    FIELD(ibv_device_attr, max_cqe);
    FIELD(ibv_device_attr, max_qp_rd_atom);
    FIELD(ibv_device_attr, max_qp_init_rd_atom);
    FIELD(ibv_device_attr, max_srq_wr);

    SIZE(ibv_port_attr);
    FIELD(ibv_port_attr, state);
    FIELD(ibv_port_attr, max_msg_sz);
    FIELD(ibv_port_attr, link_layer);
}

static void objects(void)
{
    FIELD(ibv_device, transport_type);
    FIELD(ibv_device, name);

    FIELD(ibv_context, device);
    FIELD_AS(ibv_context, "poll_cq", ops.poll_cq);
    FIELD_AS(ibv_context, "req_notify_cq", ops.req_notify_cq);
    FIELD_AS(ibv_context, "post_srq_recv", ops.post_srq_recv);
    FIELD_AS(ibv_context, "post_send", ops.post_send);
    FIELD_AS(ibv_context, "post_recv", ops.post_recv);
    FIELD(ibv_context, async_fd);

    FIELD(ibv_async_event, element);
    FIELD(ibv_async_event, event_type);

    FIELD(ibv_mr, lkey);
    FIELD(ibv_mr, rkey);

    FIELD(ibv_comp_channel, fd);
    FIELD(ibv_qp, qp_num);
}

static void connections(void)
{
    FIELD(rdma_event_channel, fd);

    FIELD(rdma_cm_id, verbs);
    FIELD(rdma_cm_id, qp);
    FIELD_AS(rdma_cm_id, "src_addr", route.addr.src_storage);
    FIELD_AS(rdma_cm_id, "dst_addr", route.addr.dst_storage);

    SIZE(rdma_conn_param);
    FIELD(rdma_conn_param, private_data);
    FIELD(rdma_conn_param, private_data_len);
    FIELD(rdma_conn_param, responder_resources);
    FIELD(rdma_conn_param, initiator_depth);
    FIELD(rdma_conn_param, flow_control);
    FIELD(rdma_conn_param, retry_count);
    FIELD(rdma_conn_param, rnr_retry_count);
    FIELD(rdma_conn_param, srq);

    FIELD(rdma_cm_event, id);
    FIELD(rdma_cm_event, listen_id);
    FIELD(rdma_cm_event, event);
    FIELD(rdma_cm_event, status);
    FIELD_AS(rdma_cm_event, "private_data", param.conn.private_data);
    FIELD_AS(rdma_cm_event, "private_data_len", param.conn.private_data_len);
    FIELD_AS(rdma_cm_event, "responder_resources", param.conn.responder_resources);
    FIELD_AS(rdma_cm_event, "initiator_depth", param.conn.initiator_depth);

    SIZE(sockaddr_in);
    FIELD(sockaddr_in, sin_family);
    FIELD(sockaddr_in, sin_port);
    FIELD(sockaddr_in, sin_addr);
    SIZE(sockaddr_in6);
    FIELD(sockaddr_in6, sin6_family);
    FIELD(sockaddr_in6, sin6_port);
    FIELD(sockaddr_in6, sin6_addr);
    FIELD(sockaddr_in6, sin6_scope_id);
}

static void verbs_constants(void)
{
    CONSTANT(IBV_ACCESS_LOCAL_WRITE);
    CONSTANT(IBV_ACCESS_REMOTE_WRITE);
    CONSTANT(IBV_ACCESS_REMOTE_READ);
    CONSTANT(IBV_DEVICE_MEM_MGT_EXTENSIONS);
    CONSTANT(IBV_EVENT_CQ_ERR);
    CONSTANT(IBV_EVENT_QP_FATAL);
    CONSTANT(IBV_EVENT_QP_REQ_ERR);
    CONSTANT(IBV_EVENT_QP_ACCESS_ERR);
    CONSTANT(IBV_EVENT_COMM_EST);
    CONSTANT(IBV_EVENT_DEVICE_FATAL);
    CONSTANT(IBV_EVENT_PORT_ACTIVE);
    CONSTANT(IBV_EVENT_PORT_ERR);
    CONSTANT(IBV_EVENT_SRQ_ERR);
    CONSTANT(IBV_EVENT_QP_LAST_WQE_REACHED);
    CONSTANT(IBV_LINK_LAYER_ETHERNET);
    CONSTANT(IBV_PORT_ACTIVE);
    CONSTANT(IBV_QPS_ERR);
    CONSTANT(IBV_QPT_RC);
    CONSTANT(IBV_QP_STATE);
    CONSTANT(IBV_SEND_INLINE);
    CONSTANT(IBV_SEND_SIGNALED);
    CONSTANT(IBV_TRANSPORT_IWARP);
    CONSTANT(IBV_WC_SUCCESS);
    CONSTANT(IBV_WC_LOC_LEN_ERR);
    CONSTANT(IBV_WC_LOC_PROT_ERR);
    CONSTANT(IBV_WC_WR_FLUSH_ERR);
    CONSTANT(IBV_WC_LOC_ACCESS_ERR);
    CONSTANT(IBV_WC_REM_INV_REQ_ERR);
    CONSTANT(IBV_WC_REM_ACCESS_ERR);
    CONSTANT(IBV_WC_REM_OP_ERR);
    CONSTANT(IBV_WC_RETRY_EXC_ERR);
    CONSTANT(IBV_WC_RNR_RETRY_EXC_ERR);
    CONSTANT(IBV_WC_REM_ABORT_ERR);
    CONSTANT(IBV_WC_RESP_TIMEOUT_ERR);
    CONSTANT(IBV_WC_RECV);
    CONSTANT(IBV_WC_WITH_INV);
    CONSTANT(IBV_WR_RDMA_WRITE);
    CONSTANT(IBV_WR_SEND);
    CONSTANT(IBV_WR_RDMA_READ);
    CONSTANT(IBV_WR_SEND_WITH_INV);
}

static void other_constants(void)
{
    CONSTANT(RDMA_PS_TCP);
    CONSTANT(RDMA_CM_EVENT_ADDR_RESOLVED);
    CONSTANT(RDMA_CM_EVENT_ROUTE_RESOLVED);
    CONSTANT(RDMA_CM_EVENT_CONNECT_REQUEST);
    CONSTANT(RDMA_CM_EVENT_CONNECT_ERROR);
    CONSTANT(RDMA_CM_EVENT_UNREACHABLE);
    CONSTANT(RDMA_CM_EVENT_REJECTED);
    CONSTANT(RDMA_CM_EVENT_ESTABLISHED);
    CONSTANT(RDMA_CM_EVENT_DISCONNECTED);
    CONSTANT(RDMA_CM_EVENT_DEVICE_REMOVAL);
    CONSTANT(RDMA_CM_EVENT_ADDR_CHANGE);
    CONSTANT(RDMA_CM_EVENT_TIMEWAIT_EXIT);

    CONSTANT(AF_INET);
    CONSTANT(AF_INET6);
    CONSTANT(EACCES);
    CONSTANT(EADDRINUSE);
    CONSTANT(EADDRNOTAVAIL);
    CONSTANT(EAGAIN);
    CONSTANT(EBUSY);
    CONSTANT(ECONNREFUSED);
    CONSTANT(ECONNRESET);
    CONSTANT(EFAULT);
    CONSTANT(EHOSTUNREACH);
    CONSTANT(EINTR);
    CONSTANT(EINVAL);
    CONSTANT(ENETUNREACH);
    CONSTANT(ENODEV);
    CONSTANT(ENOENT);
    CONSTANT(ENOMEM);
    CONSTANT(ENOSYS);
    CONSTANT(ENOTCONN);
    CONSTANT(EPERM);
    CONSTANT(ETIMEDOUT);
    CONSTANT(F_GETFL);
    CONSTANT(F_SETFL);
    CONSTANT(O_NONBLOCK);
}

int main(void)
{
    work_requests();
    attributes();
    objects();
    connections();
    verbs_constants();
    other_constants();
    return 0;
}
