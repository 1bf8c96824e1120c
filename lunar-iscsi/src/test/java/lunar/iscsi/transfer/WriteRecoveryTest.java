package lunar.iscsi.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Random;
import lunar.iscsi.pdu.Bhs;
import org.junit.jupiter.api.Test;

/** Tests data that are lost in transit and requested again (RFC 7143 sections 7.8 and 7.9). */
class WriteRecoveryTest {
    private static final long SEED = Long.getLong("lunar.seed", 20261121);
    private static final BurstRules RULES = new BurstRules(1024, 2048, 2, false, true, true, true);

    private final WriteTransfer transfer = new WriteTransfer(RULES, true);

    private void requireR2t(int ttt, int sn, int offset, int length) {
        assertThat(transfer.wantsR2t()).isTrue();
        transfer.planR2t(ttt);
        assertThat(transfer.r2tSn()).isEqualTo(sn);
        assertThat(transfer.r2tOffset()).isEqualTo(offset);
        assertThat(transfer.r2tLength()).isEqualTo(length);
    }

    @Test
    void shouldRequestFromTheMissingPduAfterTheSequenceHasEnded() {
        transfer.begin(4096, 4096, 0, true);
        requireR2t(1, 0, 0, 2048);
        requireR2t(2, 1, 2048, 2048);
        assertThat(transfer.dataOut(1, 0, 0, 512, false)).isEqualTo(DataOutResult.MORE);
        assertThat(transfer.dataOut(1, 2, 1024, 512, false)).isEqualTo(DataOutResult.MORE);
        assertThat(transfer.dataOut(1, 3, 1536, 512, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);
        requireR2t(3, 2, 512, 1536);
        assertThat(transfer.dataOut(2, 0, 2048, 2048, true))
                .isEqualTo(DataOutResult.SEQUENCE_DONE);
        assertThat(transfer.isComplete()).isFalse();
        assertThat(transfer.dataOut(3, 0, 512, 1536, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldRequestDataWithWrongDigestAgain() {
        transfer.begin(2048, 2048, 0, true);
        requireR2t(1, 0, 0, 2048);
        transfer.dataOut(1, 0, 0, 1024, false);
        assertThat(transfer.lost(1, true)).isEqualTo(DataOutResult.SEQUENCE_DONE);
        requireR2t(2, 1, 1024, 1024);
        assertThat(transfer.dataOut(2, 0, 1024, 1024, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldRequestLostUnsolicitedDataAgain() {
        transfer.begin(1024, 1024, 0, false);
        transfer.dataOut(Bhs.NO_TAG, 0, 0, 256, false);
        assertThat(transfer.dataOut(Bhs.NO_TAG, 2, 512, 512, true))
                .isEqualTo(DataOutResult.SEQUENCE_DONE);
        requireR2t(1, 0, 256, 768);
        assertThat(transfer.dataOut(1, 0, 256, 768, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldRequestAllOutstandingDataAgainAfterConnectionLoss() {
        transfer.begin(4096, 4096, 0, true);
        requireR2t(1, 0, 0, 2048);
        requireR2t(2, 1, 2048, 2048);
        transfer.dataOut(1, 0, 0, 512, false);
        assertThat(transfer.interrupted()).isTrue();
        requireR2t(3, 2, 512, 1536);
        requireR2t(4, 3, 2048, 2048);
        assertThat(transfer.dataOut(1, 1, 512, 512, false)).as("of a tag that is gone")
                .isEqualTo(DataOutResult.MORE);
        transfer.dataOut(3, 0, 512, 1536, true);
        assertThat(transfer.dataOut(4, 0, 2048, 2048, true)).isEqualTo(DataOutResult.COMPLETE);
    }

    @Test
    void shouldFindAnR2tThatIsOutAndNoOther() {
        transfer.begin(4096, 4096, 0, true);
        requireR2t(7, 0, 0, 2048);
        requireR2t(8, 1, 2048, 2048);
        transfer.dataOut(7, 0, 0, 2048, true);
        assertThat(transfer.findR2t(0)).as("answered").isFalse();
        assertThat(transfer.findR2t(1)).isTrue();
        assertThat(transfer.r2tTag()).isEqualTo(8);
        assertThat(transfer.r2tOffset()).isEqualTo(2048);
        assertThat(transfer.findR2t(2)).as("never sent").isFalse();
    }

    @Test
    void shouldTransferEveryByteOverALossyNetwork() {
        var random = new Random(SEED);
        for (int run = 0; run < 2000; run++) {
            assertThat(received(random, 1 + random.nextInt(20_000)))
                    .as("seed %d, run %d", SEED, run)
                    .isTrue();
        }
    }

    /** Plays a write whose Data-Out get lost, spoilt and doubled; whether all bytes came before its end. */
    private boolean received(Random random, int bytes) {
        var came = new BitSet();
        var outstanding = new ArrayDeque<int[]>();
        int nextTag = 1;
        transfer.begin(bytes, bytes, 0, true);
        for (int round = 0; !transfer.isComplete(); round++) {
            assertThat(round).as("rounds").isLessThan(1000);
            while (transfer.wantsR2t()) {
                transfer.planR2t(nextTag);
                outstanding.add(new int[]{nextTag++, transfer.r2tOffset(), transfer.r2tLength()});
            }
            int[] burst = outstanding.remove();
            int dataSn = 0;
            for (int at = 0; at < burst[2];) {
                int length = Math.min(1 + random.nextInt(700), burst[2] - at);
                boolean isFinal = at + length == burst[2];
                int kind = random.nextInt(8);
                if (kind == 0 && isFinal || kind == 1) {
                    requireAccepted(transfer.lost(burst[0], isFinal));
                } else if (kind != 0) {
                    requireAccepted(transfer.dataOut(burst[0], dataSn, burst[1] + at, length,
                            isFinal));
                    came.set(burst[1] + at, burst[1] + at + length);
                }
                dataSn++;
                at += length;
            }
        }
        return came.cardinality() == bytes;
    }

    private static void requireAccepted(DataOutResult result) {
        assertThat(result.accepted()).as("%s", result).isTrue();
    }
}
