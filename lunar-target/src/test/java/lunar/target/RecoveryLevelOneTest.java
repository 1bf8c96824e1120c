package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import lunar.target.internal.task.Unacknowledged;
import org.junit.jupiter.api.Test;

/** Tests recovery within a connection: error recovery level 1 (RFC 7143 sections 7.2 to 7.9 and 11.16). */
class RecoveryLevelOneTest {
    private static final int DATA_R2T = 0;
    private static final int STATUS = 1;
    private static final int DATA_ACK = 2;
    private static final int R_DATA = 3;
    private static final int DATA_DIGEST_ERROR = 0x02;
    private static final int SNACK_REJECT = 0x03;
    private static final int INVALID_DATA_ACK = 0x08;
    private static final String[] SOLICITED = {"InitialR2T=Yes", "ImmediateData=No"};
    private static final String[] SEGMENTS = {"MaxRecvDataSegmentLength=262144",
            "MaxBurstLength=1048576"};

    private static byte[] data(int blocks) {
        byte[] bytes = new byte[blocks * 512];
        new Random(blocks).nextBytes(bytes);
        return bytes;
    }

    // --- data to the target ---

    @Test
    void shouldRequestLostDataOutAgain() throws Exception { // sections 7.5 and 7.9, sequence error
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, SOLICITED)) {
            byte[] data = data(6);
            int write = peer.write(0, 6);
            WirePeer.Pdu r2t = peer.take(0x31, write);
            assertThat(r2t.wanted()).isEqualTo(3072);
            peer.dataOut(write, r2t.ttt(), 0, data, 0, 1024, false);
            // DataSN 1, bytes 1024 to 2047, is lost
            peer.dataOut(write, r2t.ttt(), 2, data, 2048, 3072, true);
            WirePeer.Pdu again = peer.take(0x31, write);
            assertThat(again.dataSn()).as("R2TSN").isEqualTo(1);
            assertThat(again.ttt()).isNotEqualTo(r2t.ttt());
            assertThat(again.offset()).isEqualTo(1024);
            peer.answer(again, data);

            assertThat(peer.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 6)).isEqualTo(data);
        }
    }

    @Test
    void shouldRequestMissingLastDataOutAgain() throws Exception { // section 7.5, timeout
        TargetFixture.withTimeout(1_000, 12_000, RecoveryLevelOneTest::omitLastDataOut);
    }

    private static void omitLastDataOut(long idleMs) throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, idleMs, 5_000));
                var peer = WirePeer.loggedIn(target.server, 1, SOLICITED)) {
            byte[] data = data(4);
            int write = peer.write(8, 4);
            WirePeer.Pdu r2t = peer.take(0x31, write);
            peer.dataOut(write, r2t.ttt(), 0, data, 0, 512, false);
            WirePeer.Pdu again = peer.takeBetweenPings();
            assertThat(again.opcode()).isEqualTo(0x31);
            assertThat(again.offset()).isEqualTo(512);
            peer.answer(again, data);

            WirePeer.Pdu status = peer.takeBetweenPings();
            assertThat(status.opcode()).isEqualTo(0x21);
            assertThat(status.status()).isZero();
            assertThat(target.onDevice(8, 4)).isEqualTo(data);
        }
    }

    @Test
    void shouldRequestDamagedDataOutAgain() throws Exception { // section 7.8
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, SOLICITED)) {
            byte[] data = data(2);
            int write = peer.write(0, 2);
            WirePeer.Pdu r2t = peer.take(0x31, write);
            peer.sendDamaged(peer.dataOutHeader(write, r2t.ttt(), 0, 0, true), data);
            assertThat(peer.rejected()).isEqualTo(DATA_DIGEST_ERROR);
            peer.answer(peer.take(0x31, write), data);

            assertThat(peer.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 2)).isEqualTo(data);
        }
    }

    @Test
    void shouldRequestDamagedUnsolicitedDataAgain() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, "InitialR2T=No",
                        "ImmediateData=No")) {
            byte[] data = data(4);
            int write = peer.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 4), 2048, new byte[0],
                    false);
            peer.dataOut(write, WirePeer.NONE, 0, data, 0, 512, false);
            peer.sendDamaged(peer.dataOutHeader(write, WirePeer.NONE, 1, 512, false),
                    Arrays.copyOfRange(data, 512, 1024));
            assertThat(peer.rejected()).isEqualTo(DATA_DIGEST_ERROR);
            peer.dataOut(write, WirePeer.NONE, 2, data, 1024, 2048, true);
            WirePeer.Pdu r2t = peer.take(0x31, write);
            assertThat(r2t.offset()).isEqualTo(512);
            peer.answer(r2t, data);

            assertThat(peer.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 4)).isEqualTo(data);
        }
    }

    @Test
    void shouldTreatADamagedCommandAsNotReceived() throws Exception { // section 7.8
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            byte[] data = data(1);
            int cmdSn = peer.numbers.cmdSn++;
            int itt = peer.newTag();
            peer.sendDamaged(peer.commandHeader(itt, cmdSn, WirePeer.WRITE,
                    WirePeer.cdb10(0x2a, 0, 1), 512, true), blocks(1, 0xdd));
            WirePeer.Pdu reject = peer.take(0x3f, WirePeer.NONE);
            assertThat(reject.response()).isEqualTo(DATA_DIGEST_ERROR);
            assertThat(reject.data()).as("the header that was rejected").hasSize(48);
            assertThat(reject.expCmdSn()).as("its CmdSN is still to come").isEqualTo(cmdSn);
            assertThat(target.onDevice(0, 1)).containsOnly(0);

            peer.command(itt, cmdSn, WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data, true);
            assertThat(peer.isGood(itt)).isTrue();
            assertThat(target.onDevice(0, 1)).isEqualTo(data);
        }
    }

    @Test
    void shouldAnswerAPingOnlyWhenItsDataAreRight() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            byte[] hello = "hello".getBytes(StandardCharsets.US_ASCII);
            peer.sendDamaged(peer.pingHeader(peer.newTag()), hello);
            assertThat(peer.rejected()).isEqualTo(DATA_DIGEST_ERROR);
            assertThat(peer.take(0x20, peer.ping(hello)).data()).isEqualTo(hello);
        }
    }

    @Test
    void shouldEndTheConnectionForADamagedPduAtLevelZero() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 0)) {
            peer.sendDamaged(peer.pingHeader(peer.newTag()), new byte[8]);
            assertThat(peer.rejected()).isEqualTo(DATA_DIGEST_ERROR);
            assertThat(peer.isClosedByTarget()).isTrue();
        }
    }

    // --- SNACK ---

    @Test
    void shouldSendALostR2tAgain() throws Exception { // section 11.16, type 0 of a write
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, SOLICITED)) {
            byte[] data = data(2);
            int write = peer.write(0, 2);
            WirePeer.Pdu lost = peer.lose(0x31, write);
            peer.snack(DATA_R2T, write, WirePeer.NONE, 0, 1);
            WirePeer.Pdu again = peer.take(0x31, write);
            assertThat(again.ttt()).isEqualTo(lost.ttt());
            assertThat(again.dataSn()).as("R2TSN").isZero();
            peer.answer(again, data);

            assertThat(peer.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 2)).isEqualTo(data);
        }
    }

    @Test
    void shouldSendALostDataInAgain() throws Exception { // section 11.16, type 0 of a read
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, "MaxRecvDataSegmentLength=512")) {
            byte[] data = data(4);
            assertThat(peer.isGood(peer.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 4), 2048,
                    data, true))).isTrue();
            int read = peer.read(0, 4);
            for (int i = 0; i < 4; i++) {
                assertThat(peer.lose(0x25, read).dataSn()).isEqualTo(i);
            }
            WirePeer.Pdu status = peer.lose(0x21, read);
            assertThat(status.dataSn()).as("ExpDataSN").isEqualTo(4);
            peer.snack(DATA_R2T, read, WirePeer.NONE, 1, 2);
            for (int i = 1; i < 3; i++) {
                WirePeer.Pdu again = peer.take(0x25, read);
                assertThat(again.dataSn()).isEqualTo(i);
                assertThat(again.offset()).isEqualTo(i * 512);
                assertThat(again.data())
                        .isEqualTo(Arrays.copyOfRange(data, i * 512, i * 512 + 512));
            }
            peer.snack(DATA_R2T, read, WirePeer.NONE, 3, 0); // all from there on
            assertThat(peer.take(0x25, read).dataSn()).isEqualTo(3);
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, status.statSn(), 1);
            assertThat(peer.isGood(read)).isTrue();
            assertThat(peer.isSilent()).isTrue();
        }
    }

    @Test
    void shouldSendALostStatusAgainWithItsNumber() throws Exception { // section 11.16, type 1
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            int write = peer.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            WirePeer.Pdu first = peer.lose(0x21, write);
            int wrong = peer.command(0, new byte[]{(byte) 0xff, 0, 0, 0, 0, 0}, 0, new byte[0],
                    true);
            WirePeer.Pdu second = peer.lose(0x21, wrong);
            int ping = peer.ping("x".getBytes(StandardCharsets.US_ASCII));
            peer.lose(0x20, ping);
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, first.statSn(), 0);

            assertThat(peer.isGood(write)).isTrue();
            WirePeer.Pdu again = peer.take(0x21, wrong);
            assertThat(again.status()).isEqualTo(2);
            assertThat(again.data()).as("sense data").isEqualTo(second.data());
            assertThat(peer.take(0x20, ping).text()).isEqualTo("x");
            assertThat(peer.isSilent()).isTrue();
        }
    }

    @Test
    void shouldSendAllDataCutAnewAfterTheLengthHasChanged() throws Exception { // section 11.16.3, R-Data
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, "MaxRecvDataSegmentLength=1024")) {
            byte[] data = data(4);
            assertThat(peer.isGood(peer.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 4), 2048,
                    data, true))).isTrue();
            int read = peer.read(0, 4);
            peer.lose(0x25, read);
            peer.lose(0x25, read);
            WirePeer.Pdu status = peer.lose(0x21, read);
            int text = peer.text("MaxRecvDataSegmentLength=512\n");
            assertThat(peer.lose(0x24, text).text()).isNotNull();
            peer.snack(DATA_R2T, read, WirePeer.NONE, 1, 1);
            WirePeer.Pdu reject = peer.lose(0x3f, WirePeer.NONE);
            assertThat(reject.response()).as("data cut otherwise by now").isEqualTo(SNACK_REJECT);

            peer.snack(R_DATA, read, 0x77, 0, 0);
            for (int i = 0; i < 4; i++) {
                WirePeer.Pdu again = peer.lose(0x25, read);
                assertThat(again.dataSn()).isEqualTo(i);
                assertThat(again.data())
                        .isEqualTo(Arrays.copyOfRange(data, i * 512, i * 512 + 512));
            }
            WirePeer.Pdu again = peer.lose(0x21, read);
            assertThat(again.ttt()).as("SNACK tag").isEqualTo(0x77);
            assertThat(again.statSn()).isEqualTo(status.statSn());
            assertThat(again.dataSn()).as("ExpDataSN").isEqualTo(4);
        }
    }

    @Test
    void shouldRejectASnackForUnknownPdus() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            int read = peer.read(0, 1);
            peer.take(0x25, read);
            WirePeer.Pdu status = peer.take(0x21, read);
            assertThat(peer.isSilent()).isTrue(); // acknowledges it
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, status.statSn(), 1);
            assertThat(peer.rejected()).isEqualTo(SNACK_REJECT);
            peer.snack(DATA_R2T, read, WirePeer.NONE, 0, 1);
            assertThat(peer.rejected()).isEqualTo(SNACK_REJECT);
            peer.snack(R_DATA, read, 5, 0, 0);
            assertThat(peer.rejected()).isEqualTo(SNACK_REJECT);
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, 0x7fff_0000, 0xffff_ffff);
            assertThat(peer.rejected()).isEqualTo(SNACK_REJECT);
            peer.snack(DATA_ACK, WirePeer.NONE, 1, 1, 0);
            assertThat(peer.rejected()).isEqualTo(INVALID_DATA_ACK);
            assertThat(peer.isSilent()).isTrue();
        }
    }

    @Test
    void shouldRejectASnackForAnR2tThatWasNeverSent() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, SOLICITED)) {
            byte[] data = data(2);
            int write = peer.write(0, 2);
            WirePeer.Pdu r2t = peer.take(0x31, write);
            peer.snack(DATA_R2T, write, WirePeer.NONE, 1, 0xffff_ffff);
            assertThat(peer.rejected()).isEqualTo(SNACK_REJECT);
            peer.answer(r2t, data);
            assertThat(peer.isGood(write)).isTrue();
        }
    }

    @Test
    void shouldKeepOnlySoMuchForAnInitiatorThatAcknowledgesNothing() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            WirePeer.Pdu first = peer.lose(0x20, peer.ping(new byte[4]));
            for (int i = 0; i < Unacknowledged.MAX_COUNT; i++) {
                peer.lose(0x20, peer.ping(new byte[4]));
            }
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, first.statSn(), 1);
            assertThat(peer.lose(0x3f, WirePeer.NONE).response()).isEqualTo(SNACK_REJECT);
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, first.statSn() + 2, 1);
            assertThat(peer.receive().statSn()).isEqualTo(first.statSn() + 2);
        }
    }

    // --- memory of responses that are not acknowledged ---

    @Test
    void shouldKeepNoBufferForTheStatusOfAWrite() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 1)) {
            int write = peer.command(WirePeer.WRITE, WirePeer.cdb10(0x2a, 0, 1), 512, data(1),
                    true);
            WirePeer.Pdu status = peer.lose(0x21, write);
            TargetFixture.await("its buffer is given back",
                    () -> target.server.bufferBytesInUse() == 0);
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, status.statSn(), 1);
            assertThat(peer.isGood(write)).isTrue();
            peer.snack(R_DATA, write, 5, 0, 0);
            assertThat(peer.rejected()).isEqualTo(SNACK_REJECT);
        }
    }

    /** A buffer is larger than the data in it: 257 KiB use 1 MiB. */
    @Test
    void shouldHoldFewBuffersForAnInitiatorThatAcknowledgesNothing() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, SEGMENTS)) {
            WirePeer.Pdu first = loseRead(peer);
            int last = 0;
            for (int i = 0; i < 30; i++) {
                last = loseRead(peer).itt();
            }
            TargetFixture.await("the buffers of the last answer are given back",
                    () -> target.server.bufferBytesInUse() <= 8L << 20);
            assertThat(target.server.bufferBytesInUse()).isGreaterThanOrEqualTo(1L << 20);
            peer.snack(DATA_R2T, first.itt(), WirePeer.NONE, 0, 1);
            assertThat(peer.lose(0x3f, WirePeer.NONE).response()).isEqualTo(SNACK_REJECT);
            peer.snack(R_DATA, first.itt(), 5, 0, 0);
            assertThat(peer.lose(0x3f, WirePeer.NONE).response()).isEqualTo(SNACK_REJECT);
            peer.snack(STATUS, WirePeer.NONE, WirePeer.NONE, first.statSn(), 1);
            WirePeer.Pdu again = peer.lose(0x21, first.itt());
            assertThat(again.statSn()).isEqualTo(first.statSn());
            peer.snack(DATA_R2T, last, WirePeer.NONE, 1, 1);
            assertThat(peer.lose(0x25, last).dataSn()).isEqualTo(1);
        }
    }

    @Test
    void shouldHoldFewBuffersForAllInitiatorsThatAcknowledgeNothing() throws Exception {
        ServerLimits few = TargetFixture.LIMITS;
        var limits = new ServerLimits(few.maxConnections(), few.loginTimeoutMs(),
                few.commandsPerSession(), few.immediateCommandsPerSession(),
                few.maxTransferBytes(), 32 << 20, 16 << 20,
                few.maxQueuedBytes(), few.idleMs(), few.abortTimeoutMs());
        try (var target = new TargetFixture(limits)) {
            var peers = new ArrayList<WirePeer>();
            for (int i = 0; i < 4; i++) {
                var peer = new WirePeer(target.server, 0);
                peer.initiator += i;
                assertThat(peer.login(1, 0, SEGMENTS)).isZero();
                peer.takeAttentions();
                peers.add(peer);
                for (int read = 0; read < 3; read++) {
                    WirePeer.Pdu _ = loseRead(peer);
                }
            }
            TargetFixture.await("the buffers of the last answer are given back",
                    () -> target.server.bufferBytesInUse() <= 4L << 20);
            assertThat(target.server.bufferBytesInUse()).isGreaterThanOrEqualTo(1L << 20);
            for (WirePeer peer : peers) {
                peer.close();
            }
        }
    }

    /** Reads 257 KiB, and loses the answer; returns its status. */
    private static WirePeer.Pdu loseRead(WirePeer peer) throws IOException {
        int read = peer.read(0, 514);
        peer.lose(0x25, read);
        peer.lose(0x25, read);
        return peer.lose(0x21, read);
    }

    @Test
    void shouldIgnoreDuplicateDataOut() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 1, SOLICITED)) {
            byte[] data = data(2);
            int write = peer.write(0, 2);
            WirePeer.Pdu r2t = peer.take(0x31, write);
            peer.dataOut(write, r2t.ttt(), 0, data, 0, 512, false);
            peer.dataOut(write, r2t.ttt(), 0, data, 0, 512, false);
            peer.dataOut(write, r2t.ttt(), 1, data, 512, 1024, true);
            assertThat(peer.isGood(write)).isTrue();
            assertThat(target.onDevice(0, 2)).isEqualTo(data);
        }
    }
}
