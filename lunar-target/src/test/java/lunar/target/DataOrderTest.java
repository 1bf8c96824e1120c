package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Tests data out of order: DataPDUInOrder=No and DataSequenceInOrder=No (RFC 7143 sections 13.18, 13.19). */
class DataOrderTest {
    private static final int R2T = 0x31;
    private static final int BURST = 4096;

    private static byte[] data(int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) (i / 512 + i);
        }
        return data;
    }

    @Test
    void shouldAcceptPdusOfASequenceInAnyOrderIfNegotiated() throws Exception {
        byte[] data = data(8 * 512);
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0,
                        "DataPDUInOrder=No", "ImmediateData=No")) {
            int itt = peer.write(10, 8);
            WirePeer.Pdu r2t = peer.take(R2T, itt);
            int dataSn = 0;
            for (int block : new int[]{5, 0, 7, 2, 1, 6, 3, 4}) {
                peer.dataOut(itt, r2t.ttt(), dataSn, data, block * 512, block * 512 + 512,
                        ++dataSn == 8);
            }
            assertThat(peer.isGood(itt)).isTrue();
            assertThat(target.onDevice(10, 8)).isEqualTo(data);
        }
    }

    @Test
    void shouldAcceptSequencesInAnyOrderIfNegotiated() throws Exception {
        byte[] data = data(3 * BURST);
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0,
                        "DataSequenceInOrder=No", "ImmediateData=No", "MaxBurstLength=" + BURST,
                        "FirstBurstLength=512", "MaxOutstandingR2T=3")) {
            int itt = peer.write(0, 3 * BURST / 512);
            var asked = new ArrayList<WirePeer.Pdu>();
            for (int i = 0; i < 3; i++) {
                asked.add(peer.take(R2T, itt));
            }
            for (WirePeer.Pdu r2t : asked.reversed()) {
                peer.answer(r2t, data);
            }
            assertThat(peer.isGood(itt)).isTrue();
            assertThat(target.onDevice(0, 3 * BURST / 512)).isEqualTo(data);
        }
    }

    @Test
    void shouldRejectOutOfOrderDataIfNotNegotiated() throws Exception {
        byte[] data = data(2 * 512);
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0, "ImmediateData=No")) {
            byte[] before = target.onDevice(0, 2);
            int itt = peer.write(0, 2);
            WirePeer.Pdu r2t = peer.take(R2T, itt);
            peer.dataOut(itt, r2t.ttt(), 0, data, 512, 1024, false);
            assertThat(peer.isClosedByTarget()).isTrue();
            assertThat(target.onDevice(0, 2)).isEqualTo(before);
        }
    }
}
