package lunar.iscsi.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Residual;
import org.junit.jupiter.api.Test;

/** Tests one rule each, on a write of 4096 bytes with a first burst of 1024 bytes and later bursts of 2048. */
class WriteTransferTest {
    private static final int NONE = Bhs.NO_TAG;
    private static final BurstRules OPEN = new BurstRules(1024, 2048, 2, false, true, true, true);
    private static final BurstRules SOLICITED = new BurstRules(1024, 2048, 2, true, false, true,
            true);
    private static final BurstRules ANY_ORDER = new BurstRules(1024, 2048, 2, false, true, false,
            false);

    private final WriteTransfer open = new WriteTransfer(OPEN);
    private final WriteTransfer solicited = new WriteTransfer(SOLICITED);
    private final WriteTransfer anyOrder = new WriteTransfer(ANY_ORDER);

    @Test
    void shouldBeCompleteAtOnceIfAllDataIsImmediate() {
        assertThat(open.begin(512, 512, 512, true)).isEqualTo(DataOutResult.COMPLETE);
        assertThat(open.wantsR2t()).isFalse();
        assertThat(open.isComplete()).isTrue();
        assertThat(open.begin(0, 0, 0, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldRequestTheRestInBurstsUpToMaxOutstandingR2t() {
        assertThat(open.begin(4096, 4096, 512, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);

        plan(open, 1, 0, 512, 2048);
        plan(open, 2, 1, 2560, 1536);
        assertThat(open.wantsR2t()).isFalse();
        assertThat(open.dataOut(1, 0, 512, 2048, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);
        assertThat(open.dataOut(2, 0, 2560, 1024, false)).isEqualTo(DataOutResult.MORE);
        assertThat(open.dataOut(2, 1, 3584, 512, true)).isEqualTo(DataOutResult.COMPLETE);
        assertThat(open.receivedBytes()).isEqualTo(4096);
        assertThat(open.expDataSn()).isEqualTo(2);
        assertThat(open.isComplete()).isTrue();
    }

    @Test
    void shouldWaitForTheEndOfTheUnsolicitedDataBeforeItAsks() {
        assertThat(open.begin(4096, 4096, 256, false)).isEqualTo(DataOutResult.MORE);
        assertThat(open.wantsR2t()).isFalse();
        assertThat(open.dataOut(NONE, 0, 256, 512, false)).isEqualTo(DataOutResult.MORE);
        assertThat(open.dataOut(NONE, 1, 768, 256, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);
        plan(open, 9, 0, 1024, 2048);
    }

    @Test
    void shouldRequestDataMissingFromShortFirstBurst() {
        open.begin(4096, 4096, 0, false);
        assertThat(open.dataOut(NONE, 0, 0, 512, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);
        plan(open, 9, 0, 512, 2048);
    }

    @Test
    void shouldAcceptAnEmptyFinalUnsolicitedDataOut() {
        open.begin(512, 512, 512, false);
        assertThat(open.dataOut(NONE, 0, 512, 0, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldRequestOnlyTheLengthOfTheCdbAndReportUnderflow() {
        open.begin(4096, 700, 0, true);
        plan(open, 1, 0, 0, 700);
        assertThat(open.dataOut(1, 0, 0, 700, true)).isEqualTo(DataOutResult.COMPLETE);
        assertThat(open.residual()).isEqualTo(new Residual(Residual.Kind.UNDERFLOW, 3396));
    }

    @Test
    void shouldStopAtTheExpectedLengthAndReportOverflow() {
        open.begin(700, 4096, 700, true);
        assertThat(open.isComplete()).isTrue();
        assertThat(open.neededBytes()).isEqualTo(700);
        assertThat(open.residual()).isEqualTo(new Residual(Residual.Kind.OVERFLOW, 3396));
    }

    @Test
    void shouldDrainUnsolicitedDataOfACommandThatFailed() {
        assertThat(open.begin(4096, 0, 0, false)).isEqualTo(DataOutResult.MORE);
        assertThat(open.dataOut(NONE, 0, 0, 1024, true)).isEqualTo(DataOutResult.COMPLETE);
        assertThat(open.neededBytes()).isZero();
    }

    @Test
    void shouldRejectUnsolicitedDataThatNegotiationRuledOut() {
        assertThat(solicited.begin(4096, 4096, 1, true))
                .isEqualTo(DataOutResult.UNEXPECTED_UNSOLICITED);
        assertThat(solicited.begin(4096, 4096, 0, false))
                .isEqualTo(DataOutResult.UNEXPECTED_UNSOLICITED);
        solicited.begin(4096, 4096, 0, true);
        var result = solicited.dataOut(NONE, 0, 0, 512, true);
        assertThat(result).isEqualTo(DataOutResult.UNEXPECTED_UNSOLICITED);
        assertThat(result.senseCode()).isEqualTo(0x0c0c);
    }

    @Test
    void shouldRejectUnsolicitedDataAfterTheFBit() {
        open.begin(4096, 4096, 512, true);
        assertThat(open.dataOut(NONE, 0, 512, 512, true))
                .isEqualTo(DataOutResult.UNEXPECTED_UNSOLICITED);
    }

    @Test
    void shouldRejectMoreThanTheFirstBurst() {
        assertThat(open.begin(4096, 4096, 1025, true)).isEqualTo(DataOutResult.INCORRECT_AMOUNT);
        assertThat(open.begin(512, 512, 513, true)).isEqualTo(DataOutResult.INCORRECT_AMOUNT);
        open.begin(4096, 4096, 512, false);
        assertThat(open.dataOut(NONE, 0, 512, 513, true))
                .isEqualTo(DataOutResult.INCORRECT_AMOUNT);
        assertThat(DataOutResult.INCORRECT_AMOUNT.senseCode()).isEqualTo(0x0c0d);
    }

    @Test
    void shouldRejectAFullSequenceWithoutF() {
        open.begin(4096, 4096, 512, false);
        assertThat(open.dataOut(NONE, 0, 512, 512, false))
                .isEqualTo(DataOutResult.INCORRECT_AMOUNT);
    }

    @Test
    void shouldRejectFBeforeTheR2tIsAnswered() {
        startSolicited();
        assertThat(solicited.dataOut(1, 0, 0, 512, true))
                .isEqualTo(DataOutResult.INCORRECT_AMOUNT);
    }

    @Test
    void shouldRejectATagThatIsNotOutstanding() {
        startSolicited();
        assertThat(solicited.dataOut(3, 0, 0, 512, false)).isEqualTo(DataOutResult.UNKNOWN_TTT);
        startSolicited();
        solicited.dataOut(1, 0, 0, 2048, true);
        assertThat(solicited.dataOut(1, 0, 0, 2048, true)).isEqualTo(DataOutResult.UNKNOWN_TTT);
    }

    @Test
    void shouldRejectMissingAndRepeatedDataSn() {
        startSolicited();
        assertThat(solicited.dataOut(1, 1, 0, 512, false)).isEqualTo(DataOutResult.DATA_SN_GAP);
        startSolicited();
        solicited.dataOut(1, 0, 0, 512, false);
        assertThat(solicited.dataOut(1, 0, 512, 512, false)).isEqualTo(DataOutResult.DATA_SN_GAP);
        assertThat(DataOutResult.DATA_SN_GAP.senseCode()).isEqualTo(0x4705);
    }

    @Test
    void shouldRejectOffsetsOutOfOrder() {
        startSolicited();
        assertThat(solicited.dataOut(1, 0, 512, 512, false))
                .isEqualTo(DataOutResult.OFFSET_OUT_OF_ORDER);
    }

    @Test
    void shouldRejectDataOutsideTheirBurst() {
        int[][] offsetAndLength = {{0, 2049}, {2048, 1}, {-1, 1}, {4096, 512},
                {Integer.MIN_VALUE, 512}, {Integer.MAX_VALUE, Integer.MAX_VALUE}};
        for (int[] bad : offsetAndLength) {
            startSolicited();
            assertThat(solicited.dataOut(1, 0, bad[0], bad[1], false))
                    .isEqualTo(DataOutResult.OUT_OF_BOUNDS);
        }
    }

    @Test
    void shouldRejectEmptyDataOutThatDoNotEndAnything() {
        startSolicited();
        assertThat(solicited.dataOut(1, 0, 0, 0, false)).isEqualTo(DataOutResult.EMPTY);
    }

    @Test
    void shouldRejectTheSecondSequenceBeforeTheFirstIfSequencesAreInOrder() {
        startSolicited();
        assertThat(solicited.dataOut(2, 0, 2048, 2048, true))
                .isEqualTo(DataOutResult.SEQUENCE_OUT_OF_ORDER);
    }

    @Test
    void shouldAcceptAnyOrderIfNegotiated() {
        anyOrder.begin(4096, 4096, 0, true);
        plan(anyOrder, 1, 0, 0, 2048);
        plan(anyOrder, 2, 1, 2048, 2048);
        assertThat(anyOrder.dataOut(2, 0, 3072, 1024, false)).isEqualTo(DataOutResult.MORE);
        assertThat(anyOrder.dataOut(1, 0, 1024, 1024, false)).isEqualTo(DataOutResult.MORE);
        assertThat(anyOrder.dataOut(2, 1, 2048, 1024, true))
                .isEqualTo(DataOutResult.SEQUENCE_DONE);
        assertThat(anyOrder.dataOut(1, 1, 0, 1024, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldRejectOverlapsInAnyOrder() {
        for (int[] again : new int[][]{{512, 512}, {0, 513}, {1023, 1}, {256, 1024}}) {
            anyOrder.begin(4096, 4096, 0, true);
            plan(anyOrder, 1, 0, 0, 2048);
            anyOrder.dataOut(1, 0, 512, 512, false);
            assertThat(anyOrder.dataOut(1, 1, again[0], again[1], false))
                    .isEqualTo(DataOutResult.OVERLAP);
        }
    }

    @Test
    void shouldRejectAShortFirstBurstWithAHole() {
        anyOrder.begin(4096, 4096, 256, false);
        assertThat(anyOrder.dataOut(NONE, 0, 512, 512, true))
                .isEqualTo(DataOutResult.INCORRECT_AMOUNT);
    }

    @Test
    void shouldRejectTooManyPieces() {
        anyOrder.begin(4096, 4096, 0, true);
        plan(anyOrder, 1, 0, 0, 2048);
        for (int i = 0; i < Coverage.MAX_RANGES; i++) {
            assertThat(anyOrder.dataOut(1, i, 2 * i, 1, false)).isEqualTo(DataOutResult.MORE);
        }
        assertThat(anyOrder.dataOut(1, Coverage.MAX_RANGES, 2000, 1, false))
                .isEqualTo(DataOutResult.TOO_SCATTERED);
    }

    @Test
    void shouldStayFailedUntilTheNextCommand() {
        startSolicited();
        solicited.dataOut(1, 7, 0, 2048, true);
        assertThat(solicited.dataOut(1, 0, 0, 2048, true)).isEqualTo(DataOutResult.DATA_SN_GAP);
        assertThat(solicited.wantsR2t()).isFalse();
        assertThat(solicited.isComplete()).isFalse();
        startSolicited();
    }

    @Test
    void shouldRejectMisuse() {
        assertThatThrownBy(() -> open.begin(-1, 0, 0, true))
                .isInstanceOf(IllegalArgumentException.class);
        open.begin(0, 0, 0, true);
        assertThatThrownBy(() -> open.planR2t(1)).isInstanceOf(IllegalStateException.class);
        open.begin(4096, 4096, 0, true);
        open.planR2t(1);
        assertThatThrownBy(() -> open.planR2t(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> open.planR2t(NONE)).isInstanceOf(IllegalStateException.class);
    }

    private void startSolicited() {
        assertThat(solicited.begin(4096, 4096, 0, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);
        plan(solicited, 1, 0, 0, 2048);
        plan(solicited, 2, 1, 2048, 2048);
    }

    private static void plan(WriteTransfer transfer, int ttt, int sn, int offset, int length) {
        assertThat(transfer.wantsR2t()).isTrue();
        transfer.planR2t(ttt);
        assertThat(transfer.r2tSn()).isEqualTo(sn);
        assertThat(transfer.r2tOffset()).isEqualTo(offset);
        assertThat(transfer.r2tLength()).isEqualTo(length);
    }
}
