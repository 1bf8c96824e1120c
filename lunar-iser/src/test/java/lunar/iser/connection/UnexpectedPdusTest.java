package lunar.iser.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import org.junit.jupiter.api.Test;

/** Tests which PDUs count as unexpected (RFC 7145 section 8.1), and until when. */
class UnexpectedPdusTest {
    private static final int STAT_SN = 24;

    private final UnexpectedPdus initiator = new UnexpectedPdus(true);
    private final UnexpectedPdus target = new UnexpectedPdus(false);

    private static Bhs pdu(int opcode, boolean immediate, int itt, int ttt) {
        return new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]))
                .start(opcode, immediate, 0x80).int32(Pdu.ITT, itt).int32(Pdu.TTT, ttt);
    }

    private static void send(UnexpectedPdus by, Bhs pdu) {
        assertThat(by.isUnexpected(pdu)).isTrue();
        by.sent(pdu.opcode(), by.tag(pdu), UnexpectedPdus.statSn(pdu));
    }

    @Test
    void shouldCountNothingWithoutALimit() {
        assertThat(initiator.isUnexpected(pdu(NopOut.OPCODE, true, 1, Bhs.NO_TAG))).isFalse();
        assertThat(target.isUnexpected(pdu(AsyncMessage.OPCODE, false, Bhs.NO_TAG, 0))).isFalse();
        assertThat(initiator.isFull(NopOut.OPCODE)).isFalse();
    }

    @Test
    void shouldCountOnlyImmediateRequests() {
        initiator.limit(2);
        assertThat(initiator.isUnexpected(pdu(ScsiCommand.OPCODE, false, 1, 0))).isFalse();
        assertThat(initiator.isUnexpected(pdu(TaskManagementRequest.OPCODE, false, 1, 0)))
                .isFalse();
        assertThat(initiator.isUnexpected(pdu(ScsiCommand.OPCODE, true, 1, 0))).isTrue();
        assertThat(initiator.isUnexpected(pdu(LogoutRequest.OPCODE, true, 1, 0))).isTrue();
        assertThat(initiator.isUnexpected(pdu(NopOut.OPCODE, true, Bhs.NO_TAG, 7)))
                .as("answer to a ping").isFalse();
    }

    @Test
    void shouldWaitForResponsesToRequests() {
        initiator.limit(2);
        send(initiator, pdu(NopOut.OPCODE, true, 1, Bhs.NO_TAG));
        assertThat(initiator.isFull(NopOut.OPCODE)).isFalse();
        send(initiator, pdu(TaskManagementRequest.OPCODE, true, 2, 0));
        assertThat(initiator.isFull(NopOut.OPCODE)).isTrue();

        assertThat(initiator.received(pdu(ScsiResponse.OPCODE, false, 3, 0))).isFalse();
        assertThat(initiator.received(pdu(NopIn.OPCODE, false, Bhs.NO_TAG, 5))).isFalse();
        assertThat(initiator.isFull(NopOut.OPCODE)).isTrue();
        assertThat(initiator.received(pdu(TaskManagementResponse.OPCODE, false, 2, 0))).isTrue();
        assertThat(initiator.isFull(NopOut.OPCODE)).isFalse();
        assertThat(initiator.received(pdu(NopIn.OPCODE, false, 1, Bhs.NO_TAG))).isTrue();
        assertThat(initiator.outstanding()).isZero();

        send(initiator, pdu(LogoutRequest.OPCODE, true, 4, 0));
        assertThat(initiator.received(pdu(LogoutResponse.OPCODE, false, 4, 0))).isTrue();
        send(initiator, pdu(NopOut.OPCODE, true, 5, Bhs.NO_TAG));
        assertThat(initiator.rejected(pdu(NopOut.OPCODE, true, 5, Bhs.NO_TAG))).isTrue();
        assertThat(initiator.outstanding()).isZero();
    }

    @Test
    void shouldWaitForAcknowledgementsAtATarget() {
        target.limit(3);
        send(target, pdu(AsyncMessage.OPCODE, false, Bhs.NO_TAG, 0).int32(STAT_SN, -1));
        send(target, pdu(Reject.OPCODE, false, Bhs.NO_TAG, 0).int32(STAT_SN, 0));
        assertThat(target.isFull(Reject.OPCODE)).isTrue();
        assertThat(target.received(acknowledging(-1))).isFalse();
        assertThat(target.received(acknowledging(0))).as("past the wrap").isTrue();
        assertThat(target.outstanding()).isEqualTo(1);
        assertThat(target.received(acknowledging(1))).isTrue();
        assertThat(target.outstanding()).isZero();
    }

    /** The last place is reserved for a ping, whose response acknowledges all other PDUs. */
    @Test
    void shouldPingToGetAcknowledgements() {
        target.limit(2);
        assertThat(target.needsPing(Reject.OPCODE)).isFalse();
        send(target, pdu(Reject.OPCODE, false, Bhs.NO_TAG, 0).int32(STAT_SN, 7));
        assertThat(target.needsPing(Reject.OPCODE)).isTrue();
        assertThat(target.needsPing(NopIn.OPCODE)).isFalse();
        assertThat(target.isFull(NopIn.OPCODE)).isFalse();
        Bhs ping = UnexpectedPdus.ping(pdu(0, false, 0, 0),
                pdu(Reject.OPCODE, false, Bhs.NO_TAG, 0).int32(STAT_SN, 8).int32(28, 5)
                        .int32(32, 9));
        assertThat(ping.itt()).isEqualTo(Bhs.NO_TAG);
        assertThat(ping.int32(STAT_SN)).isEqualTo(8);
        assertThat(ping.int32(28)).isEqualTo(5);
        assertThat(ping.int32(32)).isEqualTo(9);
        send(target, ping);
        assertThat(target.needsPing(Reject.OPCODE)).isFalse();
        assertThat(target.isFull(Reject.OPCODE)).isTrue();
        assertThat(target.received(pdu(NopOut.OPCODE, true, Bhs.NO_TAG, ping.ttt())
                .int32(InitiatorPdu.EXP_STAT_SN, 8))).isTrue();
        assertThat(target.outstanding()).isZero();
        assertThat(initiator.needsPing(NopOut.OPCODE)).isFalse();
    }

    private static Bhs acknowledging(int expStatSn) {
        return pdu(ScsiCommand.OPCODE, false, 1, 0).int32(InitiatorPdu.EXP_STAT_SN, expStatSn);
    }

    @Test
    void shouldWaitForResponsesToPings() {
        target.limit(2);
        assertThat(target.isUnexpected(pdu(NopIn.OPCODE, false, 4, Bhs.NO_TAG)))
                .as("answer to a ping").isFalse();
        assertThat(target.isUnexpected(pdu(DataIn.OPCODE, false, 4, 0))).isFalse();
        assertThat(target.isUnexpected(pdu(ScsiResponse.OPCODE, false, 4, 0))).isFalse();
        send(target, pdu(NopIn.OPCODE, false, Bhs.NO_TAG, 8));
        assertThat(target.received(pdu(NopOut.OPCODE, true, Bhs.NO_TAG, 9))).isFalse();
        assertThat(target.received(pdu(NopOut.OPCODE, true, Bhs.NO_TAG, 8))).isTrue();
        assertThat(target.outstanding()).isZero();
    }
}
