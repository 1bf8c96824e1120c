package lunar.iser.connection;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TextResponse;
import lunar.scsi.Lun;

/**
 * Counts the outstanding unexpected PDUs of one end: PDUs for which neither the command window nor a request of the
 * peer guarantees a buffer (RFC 7145 section 8.1). At most MaxOutstandingUnexpectedPDUs may be outstanding, for which
 * the peer has buffers (section 6.7). No I/O; not thread-safe.
 *
 * <p>At an initiator these are PDUs for immediate delivery, outstanding until they are answered. At a target they are
 * Asynchronous Message and Reject, outstanding until their StatSN is acknowledged, and NOP-In pings, outstanding until
 * they are answered. The last place is reserved for pings, because an initiator that has nothing to send acknowledges
 * only when it is pinged.
 */
final class UnexpectedPdus {
    private static final int STAT_SN = 24;
    private static final int EXP_CMD_SN = 28;
    private static final int MAX_CMD_SN = 32;

    /** Target transfer tag of the transport's {@linkplain #ping pings}; other tags count up from the smallest int. */
    private static final int PING_TTT = 0xffff_fffe;

    private final boolean isInitiator;
    private long limit;
    private final Set<Integer> unanswered = new HashSet<>();
    private final ArrayDeque<Integer> unacknowledged = new ArrayDeque<>();

    UnexpectedPdus(boolean isInitiator) { this.isInitiator = isInitiator; }

    /**
     * Sets the limit; before the first PDU after the login.
     *
     * @param most most unexpected PDUs that may be outstanding; 0 for no limit
     */
    void limit(long most) { limit = most; }

    /** Whether another unexpected PDU, with this opcode, has to wait. */
    boolean isFull(int opcode) {
        return limit > 0
                && outstanding() >= (isInitiator || opcode == NopIn.OPCODE ? limit : limit - 1);
    }

    /** Whether a ping must be sent first, so that another unexpected PDU with this opcode can be sent. */
    boolean needsPing(int opcode) {
        return !isInitiator && opcode != NopIn.OPCODE && unanswered.isEmpty() && isFull(opcode);
    }

    /** Encodes a ping to be sent before a PDU of the target. It has the StatSN of that PDU, and does not advance it. */
    static Bhs ping(Bhs ping, Bhs before) {
        new NopIn(Lun.ZERO, Bhs.NO_TAG, PING_TTT, before.int32(STAT_SN), before.int32(EXP_CMD_SN),
                before.int32(MAX_CMD_SN)).encode(ping);
        return ping.lengths(0, 0);
    }

    int outstanding() { return unanswered.size() + unacknowledged.size(); }

    /** Whether a PDU of this end is unexpected by the peer. False if there is no limit. */
    boolean isUnexpected(Bhs sent) {
        if (limit == 0) {
            return false;
        }
        if (isInitiator) {
            // The response to a ping is expected (section 8.1.1).
            return sent.immediate() && sent.opcode() != DataOut.OPCODE
                    && !(sent.opcode() == NopOut.OPCODE && sent.itt() == Bhs.NO_TAG);
        }
        return switch (sent.opcode()) {
            case AsyncMessage.OPCODE, Reject.OPCODE -> true;
            case NopIn.OPCODE -> sent.itt() == Bhs.NO_TAG && sent.ttt() != Bhs.NO_TAG;
            default -> false;
        };
    }

    /** Counts an {@linkplain #isUnexpected unexpected} PDU that is sent, by its tag or, at a target, its StatSN. */
    void sent(int opcode, int tag, int statSn) {
        if (isInitiator || opcode == NopIn.OPCODE) {
            unanswered.add(tag);
        } else {
            unacknowledged.add(statSn);
        }
    }

    /** Returns the tag that the answer to an unexpected PDU will have. */
    int tag(Bhs sent) {
        return isInitiator ? sent.itt() : sent.ttt();
    }

    /** Returns the StatSN of an unexpected PDU of a target. */
    static int statSn(Bhs sent) {
        return sent.int32(STAT_SN);
    }

    /** Handles a PDU of the peer, which may answer or acknowledge some. Returns whether fewer are outstanding. */
    boolean received(Bhs bhs) {
        if (limit == 0) {
            return false;
        }
        return isInitiator ? answered(bhs) : acknowledged(bhs);
    }

    private boolean answered(Bhs bhs) {
        return switch (bhs.opcode()) {
            case NopIn.OPCODE, ScsiResponse.OPCODE, TaskManagementResponse.OPCODE,
                    TextResponse.OPCODE, LogoutResponse.OPCODE ->
                unanswered.remove(bhs.itt());
            default -> false;
        };
    }

    /** Handles a Reject, by the header that it returns: the request is no longer outstanding. */
    boolean rejected(Bhs refused) {
        return limit > 0 && isInitiator && unanswered.remove(refused.itt());
    }

    private boolean acknowledged(Bhs bhs) {
        int before = outstanding();
        int expStatSn = bhs.int32(InitiatorPdu.EXP_STAT_SN);
        while (!unacknowledged.isEmpty()
                && SerialNumbers.lessThan(unacknowledged.peek(), expStatSn)) {
            unacknowledged.remove();
        }
        if (bhs.opcode() == NopOut.OPCODE) {
            unanswered.remove(bhs.ttt());
        }
        return outstanding() < before;
    }
}
