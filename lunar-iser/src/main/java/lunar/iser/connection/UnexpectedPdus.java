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
 * Counts the PDUs that one end has sent and that its peer cannot expect, since neither the command window nor a request
 * of its own announces them (RFC 7145 section 8.1): at most MaxOutstandingUnexpectedPDUs, for which the peer has
 * buffers (section 6.7). Pure; not for use by several threads at a time.
 *
 * <p>An initiator's are those for immediate delivery, outstanding until they are answered. A target's are Asynchronous
 * Message and Reject, outstanding until their StatSN is acknowledged, and its pings, until they are answered. The last
 * place is for pings alone: an initiator that has nothing to send acknowledges nothing, unless it is pinged.
 */
final class UnexpectedPdus {
    private static final int STAT_SN = 24;
    private static final int EXP_CMD_SN = 28;
    private static final int MAX_CMD_SN = 32;

    /** Tag of a {@linkplain #needsPing ping} of the transport; those of a target count up from the smallest integer. */
    private static final int PING_TTT = 0xffff_fffe;

    private final boolean isInitiator;
    private long limit;
    private final Set<Integer> unanswered = new HashSet<>();
    private final ArrayDeque<Integer> unacknowledged = new ArrayDeque<>();

    UnexpectedPdus(boolean isInitiator) { this.isInitiator = isInitiator; }

    /**
     * Sets how many may be outstanding; before the first PDU after the login.
     *
     * @param most 0 for no limit
     */
    void limit(long most) { limit = most; }

    /** Whether another one, with this opcode, has to wait. */
    boolean isFull(int opcode) {
        return limit > 0
                && outstanding() >= (isInitiator || opcode == NopIn.OPCODE ? limit : limit - 1);
    }

    /** Whether another one, with this opcode, has to wait until the initiator is pinged. */
    boolean needsPing(int opcode) {
        return !isInitiator && opcode != NopIn.OPCODE && unanswered.isEmpty() && isFull(opcode);
    }

    /** Makes a ping that is sent before a PDU of the target: its StatSN is that of the PDU, and is not used up. */
    static Bhs ping(Bhs ping, Bhs before) {
        new NopIn(Lun.ZERO, Bhs.NO_TAG, PING_TTT, before.int32(STAT_SN), before.int32(EXP_CMD_SN),
                before.int32(MAX_CMD_SN)).encode(ping);
        return ping.lengths(0, 0);
    }

    int outstanding() { return unanswered.size() + unacknowledged.size(); }

    /** Whether the peer cannot expect a PDU of this end. False where there is no limit. */
    boolean isUnexpected(Bhs sent) {
        if (limit == 0) {
            return false;
        }
        if (isInitiator) {
            // The answer to a ping is expected (section 8.1.1).
            return sent.immediate() && sent.opcode() != DataOut.OPCODE
                    && !(sent.opcode() == NopOut.OPCODE && sent.itt() == Bhs.NO_TAG);
        }
        return switch (sent.opcode()) {
            case AsyncMessage.OPCODE, Reject.OPCODE -> true;
            case NopIn.OPCODE -> sent.itt() == Bhs.NO_TAG && sent.ttt() != Bhs.NO_TAG;
            default -> false;
        };
    }

    /** Counts a PDU that {@linkplain #isUnexpected cannot be expected}, by what its end will be known by. */
    void sent(int opcode, int tag, int statSn) {
        if (isInitiator || opcode == NopIn.OPCODE) {
            unanswered.add(tag);
        } else {
            unacknowledged.add(statSn);
        }
    }

    /** The tag by which the answer to an unexpected PDU is known. */
    int tag(Bhs sent) {
        return isInitiator ? sent.itt() : sent.ttt();
    }

    /** The StatSN of an unexpected PDU, if it has one. */
    static int statSn(Bhs sent) {
        return sent.int32(STAT_SN);
    }

    /** Takes a PDU of the peer, which may answer or acknowledge some. Returns whether one less is outstanding. */
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

    /** A request that was rejected is not outstanding any more; its tag is in the header that came back. */
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
