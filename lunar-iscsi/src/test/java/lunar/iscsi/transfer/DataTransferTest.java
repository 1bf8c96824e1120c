package lunar.iscsi.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.session.SequenceVerdict;
import org.junit.jupiter.api.Test;

/** Tests the plans of both ends and the initiator's checks by example. */
class DataTransferTest {
    private static final BurstRules OPEN = new BurstRules(1024, 2048, 2, false, true, true, true);
    private static final BurstRules SOLICITED = new BurstRules(1024, 2048, 2, true, false, true,
            true);
    private static final BurstRules ANY_ORDER = new BurstRules(1024, 2048, 2, true, true, false,
            false);
    private static final BurstRules ANY_PDU_ORDER = new BurstRules(1024, 2048, 2, true, true,
            false, true);
    private static final BurstRules ANY_SEQUENCE_ORDER = new BurstRules(1024, 2048, 2, true, true,
            true, false);

    @Test
    void shouldSendImmediateThenUnsolicitedDataToFirstBurst() {
        var plan = new DataOutPlan(OPEN, 400);
        plan.begin(4096);

        assertThat(plan.immediateBytes()).isEqualTo(400);
        assertThat(plan.isCommandFinal()).isFalse();
        plan.unsolicited();
        assertThat(walk(plan)).containsExactly("400+400 sn 0", "800+224 sn 1 F");
    }

    @Test
    void shouldSendEverythingWithTheCommandIfItFits() {
        var plan = new DataOutPlan(OPEN, 8192);
        plan.begin(512);

        assertThat(plan.immediateBytes()).isEqualTo(512);
        assertThat(plan.isCommandFinal()).isTrue();
        plan.unsolicited();
        assertThat(plan.next()).isFalse();
    }

    @Test
    void shouldSendNoUnsolicitedDataIfNegotiated() {
        var plan = new DataOutPlan(SOLICITED, 8192);
        plan.begin(4096);

        assertThat(plan.immediateBytes()).isZero();
        assertThat(plan.isCommandFinal()).isTrue();
    }

    @Test
    void shouldAnswerR2tsWithDataSnFromZeroEach() throws ProtocolException {
        var plan = new DataOutPlan(SOLICITED, 1500);
        plan.begin(4096);

        plan.answer(0, 0, 2048);
        assertThat(walk(plan)).containsExactly("0+1500 sn 0", "1500+548 sn 1 F");
        plan.answer(1, 2048, 1000);
        assertThat(walk(plan)).containsExactly("2048+1000 sn 0 F");
    }

    /** The target continues behind the numbers that it had used, which the initiator may not have seen. */
    @Test
    void shouldAcceptTheFirstR2tOfANewConnectionBehindThoseThatWereLostWithTheOld()
            throws ProtocolException {
        var plan = new DataOutPlan(SOLICITED, 1500);
        plan.begin(4096);
        plan.answer(0, 0, 2048);
        plan.reassigned(1000);
        assertThatThrownBy(() -> plan.answer(0, 0, 2048)).hasMessageContaining("11.8.3");
        plan.answer(3, 0, 2048);
        assertThat(walk(plan)).containsExactly("0+1000 sn 0", "1000+1000 sn 1", "2000+48 sn 2 F");
        assertThat(plan.expR2tSn()).isEqualTo(4);
        assertThatThrownBy(() -> plan.answer(5, 2048, 2048)).hasMessageContaining("11.8.3");
        plan.answer(4, 2048, 2048);
        plan.reassigned(1000);
        plan.begin(4096);
        assertThatThrownBy(() -> plan.answer(1, 0, 2048)).as("another command")
                .hasMessageContaining("11.8.3");
    }

    @Test
    void shouldRejectR2tsThatRequestTooMuchOrOutOfOrder() {
        int[][] bad = {{1, 0, 2048}, {-1, 0, 2048}, {0, 0, 2049}, {0, 0, 0},
                {0, 0, -1}, {0, 4096, 1}, {0, 3000, 1097}, {0, -1, 1},
                {0, Integer.MAX_VALUE, 2048}};
        for (int[] r2t : bad) {
            var plan = new DataOutPlan(SOLICITED, 8192);
            plan.begin(4096);
            assertThatThrownBy(() -> plan.answer(r2t[0], r2t[1], r2t[2]))
                    .isInstanceOf(ProtocolException.class).hasMessageContaining("11.8");
        }
    }

    @Test
    void shouldSplitAReadIntoPdusAndSequencesAndCollapseStatus() {
        var plan = new DataInPlan(OPEN, 1500);
        plan.begin(4096, 4000, true);

        assertThat(walk(plan)).containsExactly("0+1500 sn 0", "1500+548 sn 1 F",
                "2048+1500 sn 2", "3548+452 sn 3 F S");
        assertThat(plan.statusSent()).isTrue();
        assertThat(plan.pduCount()).isEqualTo(4);
        assertThat(plan.residual()).isEqualTo(new Residual(Residual.Kind.UNDERFLOW, 96));
    }

    @Test
    void shouldLeaveTheStatusToTheResponseIfAskedOrIfThereAreNoData() {
        var plan = new DataInPlan(OPEN, 8192);
        plan.begin(512, 600, false);
        assertThat(walk(plan)).containsExactly("0+512 sn 0 F");
        assertThat(plan.statusSent()).isFalse();
        assertThat(plan.residual()).isEqualTo(new Residual(Residual.Kind.OVERFLOW, 88));

        plan.begin(512, 0, true);
        assertThat(plan.next()).isFalse();
        assertThat(plan.statusSent()).isFalse();
        assertThat(plan.pduCount()).isZero();
    }

    @Test
    void shouldReportMissingAndRepeatedDataIn() throws ProtocolException {
        var receiver = new DataInReceiver(OPEN);
        receiver.begin(2048);

        assertThat(receiver.accept(1, 512, 512, false)).isEqualTo(SequenceVerdict.GAP);
        assertThat(receiver.accept(0, 0, 512, false)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.accept(0, 0, 512, false)).isEqualTo(SequenceVerdict.DUPLICATE);
        assertThat(receiver.receivedBytes()).isEqualTo(512);
        assertThat(receiver.finish(2, Residual.NONE)).isEqualTo(SequenceVerdict.GAP);
    }

    @Test
    void shouldNumberDataInTogetherWithR2tsOfBidirectionalCommand() throws ProtocolException {
        var receiver = new DataInReceiver(OPEN);
        receiver.begin(1024);
        receiver.numbered(0);
        receiver.numbered(1);
        assertThat(receiver.accept(1, 0, 512, false)).isEqualTo(SequenceVerdict.DUPLICATE);
        assertThat(receiver.accept(3, 0, 512, false)).isEqualTo(SequenceVerdict.GAP);
        assertThat(receiver.accept(2, 0, 512, false)).isEqualTo(SequenceVerdict.IN_ORDER);
        receiver.numbered(1); // again
        assertThat(receiver.accept(3, 512, 512, true)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.finish(4, Residual.NONE)).isEqualTo(SequenceVerdict.IN_ORDER);
    }

    @Test
    void shouldRejectDataInOutsideTheCommand() {
        int[][] bad = {{0, 2049}, {-1, 1}, {2048, 1}, {Integer.MAX_VALUE, 512},
                {0, -1}, {Integer.MIN_VALUE, 0}};
        for (var rules : List.of(OPEN, ANY_ORDER)) {
            for (int[] offsetAndLength : bad) {
                var receiver = new DataInReceiver(rules);
                receiver.begin(2048);
                assertThatThrownBy(
                        () -> receiver.accept(0, offsetAndLength[0], offsetAndLength[1], true))
                        .isInstanceOf(ProtocolException.class);
            }
        }
    }

    @Test
    void shouldAcceptASequenceLongerThanMaxBurstWithinTheCommand() throws ProtocolException {
        var receiver = new DataInReceiver(OPEN);
        receiver.begin(8192);

        assertThat(receiver.accept(0, 0, 2048, false)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.accept(1, 2048, 6144, true)).isEqualTo(SequenceVerdict.IN_ORDER);
    }

    @Test
    void shouldEnforceTheNegotiatedOrderOfDataIn() throws ProtocolException {
        assertThat(accepts(OPEN, 0, 512, false, 1024, 512)).isFalse();
        assertThat(accepts(ANY_ORDER, 1024, 512, false, 0, 512)).isTrue();
        assertThat(accepts(ANY_ORDER, 1024, 512, false, 1024, 1)).isFalse(); // twice
        assertThat(accepts(ANY_SEQUENCE_ORDER, 2048, 512, true, 0, 512)).isTrue();
        assertThat(accepts(ANY_SEQUENCE_ORDER, 2048, 512, false, 0, 512)).isFalse();
        assertThat(accepts(ANY_PDU_ORDER, 512, 512, false, 0, 512)).isTrue();
        assertThat(accepts(ANY_PDU_ORDER, 512, 512, true, 0, 512)).isFalse(); // leaves a hole
    }

    @Test
    void shouldCheckTheResponseAgainstReceivedData() throws ProtocolException {
        var receiver = new DataInReceiver(OPEN);
        receiver.begin(2048);
        receiver.accept(0, 0, 512, true);

        var under = new Residual(Residual.Kind.UNDERFLOW, 1536);
        assertThat(receiver.finish(1, under)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.finish(0, under)).isEqualTo(SequenceVerdict.IN_ORDER);
        for (var wrong : List.of(Residual.NONE, new Residual(Residual.Kind.UNDERFLOW, 1535),
                new Residual(Residual.Kind.UNDERFLOW, -1),
                new Residual(Residual.Kind.OVERFLOW, 1))) {
            assertThatThrownBy(() -> receiver.finish(1, wrong))
                    .isInstanceOf(ProtocolException.class).hasMessageContaining("11.4.5");
        }
    }

    @Test
    void shouldRejectRulesOutsideTheirRanges() {
        for (int[] bad : new int[][]{{511, 2048, 1}, {2049, 2048, 1}, {512, 1 << 24, 1},
                {512, 512, 0}, {512, 512, 65_536}}) {
            assertThatThrownBy(
                    () -> new BurstRules(bad[0], bad[1], bad[2], true, true, true, true))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static boolean accepts(BurstRules rules, int firstOffset, int firstLength,
            boolean firstIsFinal, int offset, int length) {
        var receiver = new DataInReceiver(rules);
        receiver.begin(4096);
        try {
            receiver.accept(0, firstOffset, firstLength, firstIsFinal);
            receiver.accept(1, offset, length, true);
            return true;
        } catch (ProtocolException _) {
            return false;
        }
    }

    private static List<String> walk(DataOutPlan plan) {
        var pdus = new ArrayList<String>();
        while (plan.next()) {
            pdus.add(plan.offset() + "+" + plan.length() + " sn " + plan.dataSn()
                    + (plan.isFinal() ? " F" : ""));
        }
        return pdus;
    }

    private static List<String> walk(DataInPlan plan) {
        var pdus = new ArrayList<String>();
        while (plan.next()) {
            pdus.add(plan.offset() + "+" + plan.length() + " sn " + plan.dataSn()
                    + (plan.isFinal() ? " F" : "") + (plan.carriesStatus() ? " S" : ""));
        }
        return pdus;
    }
}
