package lunar.target.internal.task;

import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.SnackRequest;
import org.jspecify.annotations.Nullable;

/** Handles SNACK Requests: retransmits missing PDUs (RFC 7143 section 11.16). Confined to the event loop's thread. */
public final class Snacks {
    /** Maximum number of R2Ts of one task that can be outstanding. */
    private static final int MAX_R2T = 65_536;

    private final ResponseSender responses;
    private final boolean recovers;

    public Snacks(ResponseSender responses, boolean recovers) {
        this.responses = responses;
        this.recovers = recovers;
    }

    /** @param task running task with its tag on this connection, if any */
    public void answer(SnackRequest request, @Nullable Task task, Bhs bhs) {
        if (!recovers) { // error recovery level 0 has no SNACK
            responses.reject(bhs, RejectReason.SNACK_REJECT);
            return;
        }
        switch (request.type()) {
            case STATUS -> {
                if (!responses.statusAgain(request.begRun(), request.runLength())) {
                    responses.reject(bhs, RejectReason.SNACK_REJECT);
                }
            }
            case DATA_R2T -> {
                boolean sent = task == null
                        ? responses.dataAgain(request.itt(), request.begRun(), request.runLength())
                        : r2tAgain(task, request.begRun(), request.runLength());
                // An executing command has sent nothing yet: all of its data will still be sent.
                boolean early = task != null && !task.declaresDataOut() && request.begRun() == 0;
                if (!sent && !early) {
                    responses.reject(bhs, RejectReason.SNACK_REJECT);
                }
            }
            case R_DATA -> {
                if (!responses.allDataAgain(request.itt(), request.ttt())) {
                    responses.reject(bhs, RejectReason.SNACK_REJECT);
                }
            }
            case DATA_ACK -> responses.reject(bhs, RejectReason.INVALID_DATA_ACK); // no Data-In requests one
        }
    }

    private boolean r2tAgain(Task task, int first, int length) {
        if (!task.declaresDataOut() || !task.state().takesData()) {
            return false;
        }
        int last = length == 0 ? task.transfer().expDataSn() - first : length;
        boolean any = false;
        for (int i = 0; i < Math.min(last, MAX_R2T); i++) {
            if (task.transfer().findR2t(first + i)) {
                responses.r2t(task, task.transfer().r2tTag());
                any = true;
            }
        }
        return any;
    }
}
