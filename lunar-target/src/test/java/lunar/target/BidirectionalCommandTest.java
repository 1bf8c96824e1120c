package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.testkit.echo.EchoCdb;
import lunar.testkit.echo.EchoSpec;
import org.junit.jupiter.api.Test;

/**
 * Tests bidirectional commands and CDBs of more than 16 bytes (RFC 7143 sections 4.6.4, 11.2.2.3, 11.2.2.4, 11.4.4,
 * 11.7.5).
 */
class BidirectionalCommandTest {
    private static final int R2T = 0x31;
    private static final int DATA_IN = 0x25;
    private static final int RESPONSE = 0x21;
    private static final int BURST = 512;

    private static byte sum(byte data, byte[] cdb, int at) {
        return (byte) (data + cdb[16 + at % (cdb.length - 16)]);
    }

    /** A target with a disk, and with an echo device at LUN 1. */
    private static TargetFixture target() throws Exception {
        var target = new TargetFixture();
        var _ = target.server.update(target.server.spec(RawInitiator.TARGET).orElseThrow()
                .withLun(1, EchoSpec.of("echo-1")));
        return target;
    }

    /** An initiator of the echo device. */
    private static WirePeer peer(TargetFixture target, int level, String... keys)
            throws Exception {
        var peer = WirePeer.loggedIn(target.server, level, keys);
        peer.lun = 1;
        peer.takeAttentions();
        return peer;
    }

    private static byte[] cdb(int length) {
        byte[] cdb = new byte[length];
        cdb[0] = 0x7f;
        cdb[7] = (byte) (length - 8);
        cdb[8] = (byte) 0xf0;
        cdb[9] = 1;
        for (int i = 16; i < length; i++) {
            cdb[i] = (byte) (3 * i + 1);
        }
        return cdb;
    }

    private static byte[] data(int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) (7 * i);
        }
        return data;
    }

    private static byte[] sums(byte[] data, byte[] cdb) {
        byte[] sums = new byte[data.length];
        for (int i = 0; i < data.length; i++) {
            sums[i] = sum(data[i], cdb, i);
        }
        return sums;
    }

    /** Answers the R2Ts of a command and returns how many there were. */
    private static int send(WirePeer peer, int itt, byte[] data) throws Exception {
        int r2ts = 0;
        for (int sent = 0; sent < data.length; sent += BURST) {
            WirePeer.Pdu r2t = peer.take(R2T, itt);
            assertThat(r2t.dataSn()).isEqualTo(r2ts++);
            peer.answer(r2t, data);
        }
        return r2ts;
    }

    @Test
    void shouldTransferDataBothWaysAndReadTheLongestCdb() throws Exception {
        byte[] cdb = cdb(260);
        byte[] data = data(2000);
        try (TargetFixture target = target();
                var peer = peer(target, 0, "MaxBurstLength=512",
                        "FirstBurstLength=512", "ImmediateData=No")) {
            int itt = peer.bidirectional(cdb, data.length, data.length);
            int numbered = send(peer, itt, data);
            byte[] came = new byte[data.length];
            for (int at = 0; at < came.length;) {
                WirePeer.Pdu in = peer.take(DATA_IN, itt);
                assertThat(in.dataSn()).as("numbered with the R2Ts").isEqualTo(numbered++);
                assertThat(in.offset()).isEqualTo(at);
                assertThat(in.isStatus()).as("status in a Data-In").isFalse();
                System.arraycopy(in.data(), 0, came, at, in.data().length);
                at += in.data().length;
            }
            WirePeer.Pdu response = peer.take(RESPONSE, itt);
            assertThat(came).isEqualTo(sums(data, cdb));
            assertThat(response.status()).isZero();
            assertThat(response.flags()).as("no residual").isEqualTo(WirePeer.FINAL);
            assertThat(response.dataSn()).as("ExpDataSN").isEqualTo(numbered);
        }
    }

    @Test
    void shouldReportBidirectionalResiduals() throws Exception {
        byte[] cdb = cdb(32);
        byte[] data = data(512);
        try (TargetFixture target = target(); WirePeer peer = peer(target, 0)) {
            int itt = peer.bidirectional(cdb, data.length, 2048);
            send(peer, itt, data);
            assertThat(peer.take(DATA_IN, itt).data()).isEqualTo(sums(data, cdb));
            WirePeer.Pdu response = peer.take(RESPONSE, itt);
            assertThat(response.flags()).as("u").isEqualTo(WirePeer.FINAL | 0x08);
            assertThat(response.readResidual()).isEqualTo(2048 - 512);

            int shorter = peer.bidirectional(cdb, data.length, 100);
            send(peer, shorter, data);
            assertThat(peer.take(DATA_IN, shorter).data())
                    .isEqualTo(Arrays.copyOf(sums(data, cdb), 100));
            response = peer.take(RESPONSE, shorter);
            assertThat(response.flags()).as("o").isEqualTo(WirePeer.FINAL | 0x10);
            assertThat(response.readResidual()).isEqualTo(412);
        }
    }

    @Test
    void shouldReturnDataWithSenseData() throws Exception {
        byte[] data = data(300);
        try (TargetFixture target = target(); WirePeer peer = peer(target, 0)) {
            int itt = peer.bidirectional(new EchoCdb(true).bytes(), data.length, 400);
            send(peer, itt, data);
            assertThat(peer.take(DATA_IN, itt).data()).isEqualTo(data);
            WirePeer.Pdu response = peer.take(RESPONSE, itt);
            assertThat(response.status()).as("CHECK CONDITION").isEqualTo(2);
            assertThat(response.flags()).as("underflow of the read alone")
                    .isEqualTo(WirePeer.FINAL | 0x08);
            assertThat(response.readResidual()).isEqualTo(100);
            Sense sense = Sense.decode(MemorySegment.ofArray(response.data()).asSlice(2));
            assertThat(sense.key()).isEqualTo(SenseKey.RECOVERED_ERROR);
        }
    }

    @Test
    void shouldSendDataAgainByTheirNumbers() throws Exception {
        byte[] cdb = cdb(32);
        byte[] data = data(512);
        try (TargetFixture target = target(); WirePeer peer = peer(target, 1)) {
            int itt = peer.bidirectional(cdb, data.length, data.length);
            int r2ts = send(peer, itt, data);
            WirePeer.Pdu lost = peer.lose(DATA_IN, itt);
            peer.lose(RESPONSE, itt);
            peer.snack(0, itt, WirePeer.NONE, r2ts, 0);
            WirePeer.Pdu again = peer.take(DATA_IN, itt);
            assertThat(again.header()).isEqualTo(lost.header());
            assertThat(again.data()).isEqualTo(sums(data, cdb));
            peer.snack(1, WirePeer.NONE, WirePeer.NONE, peer.expStatSn, 1);
            assertThat(peer.isGood(itt)).isTrue();
        }
    }

    @Test
    void shouldRejectUnknownLongCdb() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 0)) {
            int itt = peer.bidirectional(cdb(32), 0, 512);
            WirePeer.Pdu response = peer.take(RESPONSE, itt);
            assertThat(response.status()).as("CHECK CONDITION").isEqualTo(2);
            assertThat(response.readResidual()).isEqualTo(512);
        }
    }

    @Test
    void shouldEchoByAVendorSpecificCommand() throws Exception {
        byte[] data = data(300);
        try (TargetFixture target = target(); WirePeer peer = peer(target, 0)) {
            int itt = peer.bidirectional(new EchoCdb().bytes(), data.length, data.length);
            send(peer, itt, data);
            assertThat(peer.take(DATA_IN, itt).data()).isEqualTo(data);
            assertThat(peer.isGood(itt)).isTrue();
        }
    }
}
