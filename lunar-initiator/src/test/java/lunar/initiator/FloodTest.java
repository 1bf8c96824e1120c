package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import lunar.block.DeviceGoneException;
import lunar.initiator.internal.session.UnsentAnswers;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests targets that send more requests than they accept responses for. */
@Timeout(300)
class FloodTest {
    private static final int PING_BYTES = 8192;
    /** More than the sockets between us take. */
    private static final int MANY_PINGS = 8_000;
    /** Of 48 bytes each, likewise. */
    private static final int MANY_SNACKS = 400_000;
    private static final int BURST_BYTES = 15 << 20;

    private static NopIn ping(ScriptedPeer peer, int ttt) {
        return new NopIn(Lun.ZERO, Bhs.NO_TAG, ttt, peer.nextStatSn(), peer.expCmdSn(),
                peer.maxCmdSn());
    }

    @Test
    void shouldEndAConnectionWhoseTargetPingsAndReadsNoResponses() throws Exception {
        var ended = new CountDownLatch(1);
        try (var loopback = new Loopback(peer -> {
            peer.login();
            byte[] data = new byte[PING_BYTES];
            for (int ttt = 0; ttt < MANY_PINGS; ttt++) {
                peer.send(ping(peer, ttt), data);
            }
            assertThat(ended.await(200, TimeUnit.SECONDS)).as("the session has ended").isTrue();
        }); Session session = loopback.login()) {
            session.onEnd(ended::countDown);
            assertThat(ended.await(100, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> session.start(new Exchange.Ping()).await())
                    .isInstanceOf(DeviceGoneException.class);
        }
    }

    @Test
    void shouldAnswerAsManyPingsAsTheTargetTakesAnswersTo() throws Exception {
        var answered = new CountDownLatch(1);
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login();
            for (int round = 0; round < 20; round++) {
                for (int ttt = 0; ttt < 100; ttt++) { // more at once than may wait
                    peer.send(ping(peer, ttt), new byte[64]);
                }
                for (int ttt = 0; ttt < 100; ttt++) {
                    assertThat(peer.receive(NopOut.class).ttt()).isEqualTo(ttt);
                }
            }
            answered.countDown();
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        }); Session session = loopback.login()) {
            assertThat(answered.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(session.isOpen()).isTrue();
        }
    }

    /** PDUs that the target sends repeatedly while it ignores all SNACKs. */
    private static void flood(String target, ScriptedTarget.Script script) throws Exception {
        var ended = new CountDownLatch(1);
        try (var loopback = new Loopback(peer -> {
            peer.login("ErrorRecoveryLevel=1", "DataDigest=CRC32C");
            script.run(peer);
            assertThat(ended.await(200, TimeUnit.SECONDS)).as("the session has ended").isTrue();
        })) {
            SessionOptions options = loopback.options().withErrorRecoveryLevel(1);
            try (Session session = loopback.initiator.login(options
                    .withOffer(options.offer().withDataDigest(DigestChoice.PREFER_CRC32C)))) {
                session.onEnd(ended::countDown);
                Task<ScsiResult> read = session.start(Exchange.Scsi.reading(Lun.ZERO,
                        Bytes.of(MemorySegment.ofArray(ReadBlocks.of(0, 1).bytes())),
                        Loopback.blocks(1)));
                assertThat(ended.await(100, TimeUnit.SECONDS)).as(target).isTrue();
                assertThatThrownBy(read::await).hasStackTraceContaining("SNACKs without receiving");
            }
        }
    }

    private static void sendAgainAndAgain(ScriptedPeer peer, byte[] pdu) {
        byte[] many = new byte[1000 * pdu.length];
        for (int at = 0; at < many.length; at += pdu.length) {
            System.arraycopy(pdu, 0, many, at, pdu.length);
        }
        try {
            for (int i = 0; i < MANY_SNACKS / 1000; i++) {
                peer.sendBytes(many);
            }
        } catch (IOException _) {
            // the initiator has had enough
        }
    }

    @Test
    void shouldEndAConnectionWhoseTargetSendsDamagedPdusAndIgnoresSnacks() throws Exception {
        flood("damage", peer -> {
            byte[] damaged = peer.encode(new NopIn(Lun.ZERO, 5, Bhs.NO_TAG, peer.statSn(),
                    peer.expCmdSn(), peer.maxCmdSn()), new byte[4]);
            damaged[damaged.length - 1]++;
            sendAgainAndAgain(peer, damaged);
        });
    }

    @Test
    void shouldEndAConnectionWhoseTargetRequestsAcknowledgementsAndReadsNone()
            throws Exception {
        flood("acknowledgements", peer -> {
            ScsiCommand command = peer.receive(ScsiCommand.class);
            for (int sn = 0; sn < MANY_SNACKS; sn++) {
                try {
                    peer.send(new DataIn(true, true, false, 0, Residual.NONE, command.lun(),
                            command.itt(), 77, 0, peer.expCmdSn(), peer.maxCmdSn(), sn, 0));
                } catch (IOException _) {
                    return; // the initiator has had enough
                }
            }
        });
    }

    /** A write of three bursts, with as many R2Ts outstanding as agreed, answered when the script wants. */
    private static void write(int maxR2ts, ScriptedDisk.Hook hook) throws Exception {
        Offer offer = Offer.DEFAULT.withBurstLengths(8192, BURST_BYTES).withMaxOutstandingR2t(2);
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login("MaxRecvDataSegmentLength=" + BURST_BYTES, "MaxBurstLength=" + BURST_BYTES,
                    "MaxOutstandingR2T=" + maxR2ts, "ImmediateData=No");
            disk.serveLoggedIn(peer, hook);
        });
                Session session = loopback.initiator.login(loopback.options().withOffer(offer));
                Arena arena = Arena.ofShared()) {
            ScsiResult result = session.execute(Lun.ZERO,
                    WriteBlocks.of(0, 3 * BURST_BYTES / 512, false).bytes(), MemorySegment.NULL,
                    arena.allocate(3L * BURST_BYTES));
            assertThat(result.isGood()).isTrue();
        }
    }

    private static R2t r2t(ScriptedPeer peer, ScsiCommand command, int sn, int offset) {
        return new R2t(command.lun(), command.itt(), sn, peer.nextStatSn(), peer.expCmdSn(),
                peer.maxCmdSn(), sn, offset, BURST_BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldEndAConnectionWithMoreR2tsOutstandingThanAgreed(int maxR2ts) {
        assertThatThrownBy(() -> write(maxR2ts, (peer, command, _) -> {
            for (int sn = 0; sn <= maxR2ts; sn++) {
                peer.send(r2t(peer, command, sn, 0)); // takes none of what it asks for
            }
            Thread.sleep(Loopback.NEVER_MS); // until the target is closed
            return true;
        })).isInstanceOf(DeviceGoneException.class).hasMessageContaining("MaxOutstandingR2T");
    }

    @Test
    void shouldAnswerAsManyR2tsAsAgreed() throws Exception {
        write(2, (peer, command, _) -> {
            peer.send(r2t(peer, command, 0, 0));
            peer.send(r2t(peer, command, 1, BURST_BYTES));
            DataOut first = peer.receive(DataOut.class);
            assertThat(first.isFinal()).isTrue();
            peer.send(r2t(peer, command, 2, 2 * BURST_BYTES));
            for (int sn = 1; sn <= 2; sn++) {
                assertThat(peer.receive(DataOut.class).ttt()).isEqualTo(sn);
            }
            ScriptedDisk.status(peer, command, Status.GOOD);
            return true;
        });
    }

    /** Bytes on the wire are counted right, or a target that keeps the rules would end up beyond them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAnswerR2tsOfAnyLengthInOrder(boolean digests) throws Exception {
        var dice = new Random(7143);
        int[] lengths = IntStream.range(0, 300).map(_ -> 1 + dice.nextInt(9_000)).toArray();
        int bytes = (IntStream.of(lengths).sum() + 511) / 512 * 512;
        lengths[0] += bytes - IntStream.of(lengths).sum();
        DigestChoice choice = digests ? DigestChoice.REQUIRE_CRC32C : DigestChoice.PREFER_NONE;
        Offer offer = Offer.DEFAULT.withHeaderDigest(choice).withDataDigest(choice);
        String digest = digests ? "CRC32C" : "None";
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login("HeaderDigest=" + digest, "DataDigest=" + digest, "ImmediateData=No");
            disk.serveLoggedIn(peer, (_, command, _) -> {
                int offset = 0;
                for (int sn = 0; sn < lengths.length; sn++) {
                    peer.send(new R2t(command.lun(), command.itt(), sn, peer.nextStatSn(),
                            peer.expCmdSn(), peer.maxCmdSn(), sn, offset, lengths[sn]));
                    offset += lengths[sn];
                    while (!peer.receive(DataOut.class).isFinal()) {
                        // the rest of the burst follows
                    }
                }
                ScriptedDisk.status(peer, command, Status.GOOD);
                return true;
            });
        }); Session session = loopback.initiator.login(loopback.options().withOffer(offer))) {
            ScsiResult result = session.execute(Lun.ZERO, WriteBlocks.of(0, bytes / 512, false)
                    .bytes(), MemorySegment.NULL, MemorySegment.ofArray(new byte[bytes]));
            assertThat(result.isGood()).isTrue();
        }
    }

    @Test
    void shouldCountWhatIsQueuedAsAListWould() {
        var dice = new Random(7143);
        for (int limit : new int[]{1, 2, 3, 64}) {
            var counted = new UnsentAnswers(limit);
            Deque<Long> expected = new ArrayDeque<>();
            long end = 0;
            long sent = 0;
            for (int i = 0; i < 10_000; i++) {
                end += 1 + dice.nextInt(100);
                sent = Math.min(end, sent + dice.nextInt(110));
                while (!expected.isEmpty() && expected.getFirst() <= sent) {
                    expected.removeFirst();
                }
                boolean room = expected.size() < limit;
                if (room) {
                    expected.add(end);
                }
                assertThat(counted.add(end, sent)).isEqualTo(room);
            }
        }
    }
}
