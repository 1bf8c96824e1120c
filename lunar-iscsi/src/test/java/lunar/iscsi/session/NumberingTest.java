package lunar.iscsi.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lunar.iscsi.ProtocolException;
import org.junit.jupiter.api.Test;

class NumberingTest {
    @Test
    void shouldSendNothingBeforeTheFirstUpdate() {
        var numbering = new CommandNumbering(3);

        assertThat(numbering.canSend()).isFalse();
        assertThat(numbering.freeCount()).isZero();
        assertThatThrownBy(numbering::next).isInstanceOf(IllegalStateException.class);
        assertThat(numbering.current()).isEqualTo(3);
    }

    @Test
    void shouldSendAsFarAsMaxCmdSnAcrossTheWrap() {
        var numbering = new CommandNumbering(0xffff_ffff);

        assertThat(numbering.update(0xffff_ffff, 1)).isTrue();
        assertThat(numbering.freeCount()).isEqualTo(3);
        assertThat(numbering.next()).isEqualTo(0xffff_ffff);
        assertThat(numbering.next()).isZero();
        assertThat(numbering.next()).isEqualTo(1);
        assertThat(numbering.canSend()).isFalse();
        assertThat(numbering.unacknowledgedCount()).isEqualTo(3);
        numbering.update(1, 1);
        assertThat(numbering.unacknowledgedCount()).isEqualTo(1);
        assertThat(numbering.isAcknowledged(0)).isTrue();
        assertThat(numbering.isAcknowledged(1)).isFalse();
    }

    @Test
    void shouldIgnoreBothIfMaxIsBeforeExpMinusOne() {
        var numbering = new CommandNumbering(10);
        numbering.update(10, 20);
        numbering.next();

        assertThat(numbering.update(11, 9)).isFalse();
        assertThat(numbering.expCmdSn()).isEqualTo(10);
        assertThat(numbering.maxCmdSn()).isEqualTo(20);
    }

    @Test
    void shouldAcceptAClosedWindow() {
        var numbering = new CommandNumbering(10);
        numbering.update(10, 10);
        numbering.next();
        numbering.update(11, 10);

        assertThat(numbering.expCmdSn()).isEqualTo(11);
        assertThat(numbering.canSend()).isFalse();
    }

    @Test
    void shouldIgnoreStaleValuesIndependently() {
        var numbering = new CommandNumbering(10);
        numbering.update(10, 20);
        numbering.next();
        numbering.next();
        numbering.update(12, 25);

        assertThat(numbering.update(11, 22)).isFalse();
        assertThat(numbering.expCmdSn()).isEqualTo(12);
        assertThat(numbering.maxCmdSn()).isEqualTo(25);
        assertThat(numbering.update(11, 30)).isTrue();
        assertThat(numbering.expCmdSn()).isEqualTo(12);
        assertThat(numbering.maxCmdSn()).isEqualTo(30);
    }

    @Test
    void shouldIgnoreAcknowledgementOfWhatWasNeverSent() {
        var numbering = new CommandNumbering(10);
        numbering.update(500, 600);

        assertThat(numbering.expCmdSn()).isEqualTo(10);
        assertThat(numbering.unacknowledgedCount()).isZero();
    }

    @Test
    void shouldNotOverflowIfTheTargetOpensHalfTheNumbers() {
        var numbering = new CommandNumbering(10);
        numbering.update(10, 10 + Integer.MAX_VALUE - 1);

        assertThat(numbering.freeCount()).isPositive();
    }

    @Test
    void shouldAssignStatSnAndFollowItsAcknowledgement() throws ProtocolException {
        var target = new StatusNumbering(0xffff_ffff);
        assertThat(target.next()).isEqualTo(0xffff_ffff);
        assertThat(target.next()).isZero();
        assertThat(target.current()).isEqualTo(1);

        assertThat(target.acknowledge(0)).isEqualTo(1);
        assertThat(target.acknowledge(0xffff_ffff)).isZero();
        assertThat(target.unacknowledgedCount()).isEqualTo(1);
        assertThat(target.acknowledge(1)).isEqualTo(1);
        assertThat(target.expStatSn()).isEqualTo(1);
    }

    @Test
    void shouldRejectAcknowledgementOfAStatusNeverSent() {
        var target = new StatusNumbering(5);

        assertThatThrownBy(() -> target.acknowledge(6)).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("4.2.2.2");
    }

    @Test
    void shouldReportOrderDuplicateAndGapOfStatSn() {
        var receiver = new StatusReceiver(0xffff_fffe);

        assertThat(receiver.accept(0xffff_ffff)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.peek(0)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.accept(0)).isEqualTo(SequenceVerdict.IN_ORDER);
        assertThat(receiver.accept(0xffff_ffff)).isEqualTo(SequenceVerdict.DUPLICATE);
        assertThat(receiver.accept(2)).isEqualTo(SequenceVerdict.GAP);
        assertThat(receiver.peek(2)).isEqualTo(SequenceVerdict.GAP);
        assertThat(receiver.expStatSn()).isEqualTo(1);
    }

    /** A target that never sends what is missing must not fill the memory with what comes after it. */
    @Test
    void shouldLimitEarlyStatuses() throws Exception {
        var receiver = new StatusReceiver(0);
        for (int i = 0; i < StatusReceiver.MAX_EARLY; i++) {
            assertThat(receiver.note(2 + i)).isEqualTo(i == 0 ? 1 : 0);
            assertThat(receiver.take(2 + i)).isTrue();
        }
        assertThatThrownBy(() -> receiver.note(2 + StatusReceiver.MAX_EARLY))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("StatSN 1 is missing");
        assertThat(receiver.note(1)).isZero();
        assertThat(receiver.take(1)).isTrue();
        assertThat(receiver.expStatSn()).isEqualTo(2 + StatusReceiver.MAX_EARLY);
    }
}
