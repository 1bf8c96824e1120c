package lunar.target;

import static lunar.target.CopyFixture.assertGood;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.block.Devices;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.ExtendedCopy;
import org.junit.jupiter.api.Test;

/** Tests that a session ends only after its background copies: they overwrite nothing that is written later. */
class BackgroundCopyEndTest {
    private static final int PIECE = 1 << 20;

    /** A copy of two pieces, whose first is at the device. */
    private static HeldDevice begin(CopyFixture copies) throws Exception {
        var held = (HeldDevice) copies.devices.get(1);
        copies.fill(0, 20261122);
        byte[] list = new CopyParameterList(true, 77, CopyParameterList.HOLD, 0, false, false,
                true, List.of(copies.cscd(0), copies.cscd(1)),
                List.of(new BlockCopySegment(false, false, 0, 1, 4096, 0, 0))).bytes();
        assertGood(copies.out(new ExtendedCopy(true, list.length), list));
        held.awaitArrival();
        return held;
    }

    private static void assertSecondPieceMissing(CopyFixture copies, HeldDevice held)
            throws Exception {
        held.pass(1000);
        assertThat(copies.content(1, PIECE, PIECE)).isEqualTo(new byte[PIECE]);
    }

    @Test
    void shouldNotReplaceASessionBeforeItsCopyHasEnded() throws Exception {
        CopyFixture.inTime(BackgroundCopyEndTest::replaceASession);
    }

    private static void replaceASession() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"), new HeldDevice("ram:4MiB"));
                var next = new RawInitiator(copies.server)) {
            HeldDevice held = begin(copies);
            copies.initiator.close();
            TargetFixture.await("its end", () -> copies.server.connectionCount() == 1);
            next.sendLogin(RawInitiator.isid(1));
            assertThat(next.isQuiet()).as("while the piece is at the device").isTrue();
            assertThat(copies.server.sessionCount()).isEqualTo(1);
            held.pass(1);
            assertThat(next.loginAnswer().status()).isZero();
            assertSecondPieceMissing(copies, held);
        }
    }

    @Test
    void shouldEndTheCopyOfAnInitiatorThatLosesItsAccessAndTheUnits() throws Exception {
        CopyFixture.inTime(BackgroundCopyEndTest::loseAccessAndUnits);
    }

    private static void loseAccessAndUnits() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"), new HeldDevice("ram:4MiB"))) {
            copies.server.update(TargetSpec.of("iqn.2026-11.org.lunar:other")
                    .withLun(0, copies.devices.get(0)).withLun(1, copies.devices.get(1))).join();
            HeldDevice held = begin(copies);
            CompletableFuture<Void> ends = copies.server.update(TargetSpec.of(RawInitiator.TARGET)
                    .withInitiator(InitiatorSpec.of("iqn.2026-11.org.host:another")));
            TargetFixture.await("its end", () -> copies.server.connectionCount() == 0);
            assertThat(copies.initiator.isClosedByTarget()).isTrue();
            assertThat(ends).as("while the piece is at the device").isNotDone();
            held.pass(1);
            ends.get(60, TimeUnit.SECONDS);
            assertSecondPieceMissing(copies, held);
        }
    }

    @Test
    void shouldAnswerALogoutAfterTheCopyHasEnded() throws Exception {
        CopyFixture.inTime(BackgroundCopyEndTest::logOut);
    }

    private static void logOut() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"), new HeldDevice("ram:4MiB"))) {
            HeldDevice held = begin(copies);
            copies.initiator.logout();
            assertThat(copies.initiator.isQuiet()).as("while the piece is at the device").isTrue();
            held.pass(1);
            RawInitiator.Received answer = copies.initiator.receive();
            assertThat(answer.opcode()).isEqualTo(LogoutResponse.OPCODE);
            assertThat(answer.bhs().int8(LogoutResponse.RESPONSE)).isZero();
            assertSecondPieceMissing(copies, held);
        }
    }
}
