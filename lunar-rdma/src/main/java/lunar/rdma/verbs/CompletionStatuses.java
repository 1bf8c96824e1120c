package lunar.rdma.verbs;

import lunar.rdma.CompletionStatus;

/** Translates {@code enum ibv_wc_status}. */
final class CompletionStatuses {
    private CompletionStatuses() {}

    static CompletionStatus of(int status) {
        return switch (status) {
            case Constants.IBV_WC_SUCCESS -> CompletionStatus.SUCCESS;
            case Constants.IBV_WC_WR_FLUSH_ERR -> CompletionStatus.FLUSHED;
            case Constants.IBV_WC_LOC_LEN_ERR -> CompletionStatus.LENGTH_ERROR;
            case Constants.IBV_WC_LOC_PROT_ERR, Constants.IBV_WC_LOC_ACCESS_ERR ->
                CompletionStatus.LOCAL_ACCESS_ERROR;
            case Constants.IBV_WC_REM_ACCESS_ERR -> CompletionStatus.REMOTE_ACCESS_ERROR;
            case Constants.IBV_WC_REM_INV_REQ_ERR, Constants.IBV_WC_REM_OP_ERR,
                    Constants.IBV_WC_REM_ABORT_ERR ->
                CompletionStatus.REMOTE_OPERATION_ERROR;
            case Constants.IBV_WC_RNR_RETRY_EXC_ERR -> CompletionStatus.RECEIVER_NOT_READY;
            case Constants.IBV_WC_RETRY_EXC_ERR, Constants.IBV_WC_RESP_TIMEOUT_ERR ->
                CompletionStatus.PEER_LOST;
            default -> CompletionStatus.PROVIDER_ERROR;
        };
    }
}
