package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lunar.iscsi.LoginException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.pdu.TextResponse;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.testkit.CapturedLog;
import lunar.testkit.FreePorts;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(120)
class LoginTest {
    private static byte[] text(String... keys) {
        return (String.join("\0", keys) + "\0").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldReportWhyTheTargetRefuses() throws Exception {
        try (var loopback = new Loopback(peer -> {
            var request = peer.receive(LoginRequest.class);
            peer.send(peer.loginResponse(request, false, 2, 3));
            peer.awaitEnd();
        })) {
            assertThatThrownBy(loopback::login)
                    .isInstanceOfSatisfying(LoginException.class, e -> {
                        assertThat(e.statusClass()).isEqualTo(2);
                        assertThat(e.statusDetail()).isEqualTo(3);
                    }).hasMessageContaining(loopback.target.portal())
                    .hasMessageContaining(Loopback.TARGET)
                    .hasMessageContaining("no such target");
        }
    }

    @Test
    void shouldGiveUpOnASilentTarget() throws Exception {
        try (var loopback = new Loopback(ScriptedPeer::awaitEnd)
                .timeouts(Loopback.patient().withLoginMs(100))) {
            assertThatThrownBy(loopback::login).isInstanceOf(LoginException.class)
                    .hasMessageContaining("no response within 100 ms");
        }
    }

    static Stream<ScriptedTarget.Script> brokenLogins() {
        return Stream.of(ScriptedPeer::cut, peer -> {
            peer.receive();
            peer.cut();
        }, peer -> {
            peer.receive();
            peer.sendHex("23 80");
        }, peer -> {
            peer.receive();
            peer.sendBytes(new byte[96]);
            peer.awaitEnd();
        }, peer -> {
            peer.receive();
            peer.send(new NopIn(Lun.ZERO, Bhs.NO_TAG, Bhs.NO_TAG, 1, 1, 1));
            peer.awaitEnd();
        }, peer -> {
            var request = peer.receive(LoginRequest.class);
            peer.send(peer.loginResponse(request, false, 0, 0), text("HeaderDigest=None"));
            peer.receive();
            peer.cut();
        }, peer -> {
            var request = peer.receive(LoginRequest.class);
            peer.send(new Reject(RejectReason.PROTOCOL_ERROR.code(), peer.statSn(), 1, 1, 0),
                    peer.encode(request, new byte[0]));
            peer.awaitEnd();
        }, peer -> {
            var request = peer.receive(LoginRequest.class);
            LoginResponse good = peer.loginResponse(request, true, 0, 0);
            peer.send(new LoginResponse(good.transit(), false, good.currentStage(),
                    good.nextStage(), 0, 0, good.isid(), 1, request.itt() + 1, good.statSn(), 1, 1,
                    0, 0));
            peer.awaitEnd();
        }, peer -> {
            peer.sendHex("20 80".repeat(24));
            peer.awaitEnd();
        });
    }

    @ParameterizedTest
    @MethodSource("brokenLogins")
    void shouldFailWhereTheLoginBreaks(ScriptedTarget.Script script) throws Exception {
        try (var loopback = new Loopback(script)) {
            assertThatThrownBy(loopback::login).isInstanceOf(IOException.class)
                    .hasMessageContaining(loopback.target.portal());
        }
    }

    @Test
    void shouldWorkInASessionWithoutHandle() throws Exception {
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            var request = peer.receive(LoginRequest.class);
            LoginResponse good = peer.loginResponse(request, true, 0, 0);
            peer.send(new LoginResponse(true, false, good.currentStage(), good.nextStage(), 0, 0,
                    good.isid(), 0, request.itt(), good.statSn(), good.expCmdSn(), good.maxCmdSn(),
                    0, 0),
                    text("HeaderDigest=None", "DataDigest=None", "MaxConnections=4",
                            "InitialR2T=Yes", "ImmediateData=Yes", "MaxBurstLength=16384",
                            "FirstBurstLength=8192", "DefaultTime2Wait=2", "DefaultTime2Retain=0",
                            "MaxOutstandingR2T=1", "DataPDUInOrder=Yes", "DataSequenceInOrder=Yes",
                            "ErrorRecoveryLevel=0"));
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        });
                var session = loopback.initiator.login(loopback.options().withConnections(4));
                LunDevice device = session.open(Lun.ZERO)) {
            assertThat(session.loginResult().tsih()).isZero();
            assertThat(session.connectionCount()).as("none can join").isEqualTo(1);
            device.write(1, Loopback.blocks(1));
        }
    }

    @Test
    void shouldRefuseUriForAnotherInitiator() {
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:test")) {
            assertThatThrownBy(() -> initiator.login("iser://127.0.0.1/" + Loopback.TARGET
                    + "?rdma-provider=libfabric:shm")).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("libfabric:shm").hasMessageContaining("none");
            assertThatThrownBy(() -> initiator.login("iscsi://127.0.0.1/" + Loopback.TARGET
                    + "?initiator=iqn.2026-11.org.lunar:other"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("iqn.2026-11.org.lunar:other");
        }
    }

    @Test
    void shouldFailIfNothingListens() throws Exception {
        int port = FreePorts.one();
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:test")) {
            assertThatThrownBy(() -> initiator
                    .login(SessionOptions.of("127.0.0.1", port, Loopback.TARGET)))
                    .isInstanceOf(IOException.class).hasMessageContaining("cannot connect");
            assertThatThrownBy(() -> initiator
                    .login(SessionOptions.of("no-such-host.invalid", port, Loopback.TARGET)))
                    .isInstanceOf(IOException.class).hasMessageContaining("unknown host");
        }
    }

    @Test
    void shouldKeepTheCauseWhereTheTargetBreaksTheProtocol() throws Exception {
        try (var loopback = new Loopback(peer -> {
            peer.receive();
            peer.sendHex("20 80 00 00".repeat(12));
            peer.awaitEnd();
        })) {
            assertThatThrownBy(loopback::login).hasCauseInstanceOf(ProtocolException.class);
        }
    }

    @Test
    void shouldFollowARedirection() throws Exception {
        var disk = new ScriptedDisk();
        try (var moved = ScriptedTarget.start(disk::serve);
                var loopback = new Loopback(peer -> {
                    var request = peer.receive(LoginRequest.class);
                    peer.send(peer.loginResponse(request, false, 1, 1),
                            text("TargetAddress=" + moved.portal()));
                    peer.awaitEnd();
                });
                Session session = loopback.login()) {
            assertThat(session.portal())
                    .isEqualTo(new TargetAddress("127.0.0.1", moved.port(), OptionalInt.empty()));
            assertThat(session.luns()).containsExactly(Lun.ZERO);
        }
    }

    @Test
    void shouldNotFollowCircularRedirections() throws Exception {
        var logins = new AtomicInteger();
        var here = new String[1];
        try (var loopback = new Loopback(peer -> {
            logins.incrementAndGet();
            var request = peer.receive(LoginRequest.class);
            peer.send(peer.loginResponse(request, false, 1, 1),
                    text("TargetAddress=" + here[0]));
            peer.awaitEnd();
        })) {
            here[0] = loopback.target.portal();
            assertThatThrownBy(loopback::login).isInstanceOf(LoginException.class)
                    .hasMessageContaining("redirected");
            assertThat(logins).hasValueBetween(2, 10);
        }
    }

    @Test
    void shouldUseTheDigestsNegotiated() throws Exception {
        var disk = new ScriptedDisk();
        Offer offer = Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C)
                .withDataDigest(DigestChoice.REQUIRE_CRC32C);
        try (var loopback = new Loopback(peer -> {
            peer.login("HeaderDigest=CRC32C", "DataDigest=CRC32C", "InitialR2T=No",
                    "ImmediateData=Yes", "MaxRecvDataSegmentLength=4096", "MaxBurstLength=16384",
                    "FirstBurstLength=4096", "MaxOutstandingR2T=1");
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        });
                Session session = loopback.initiator.login(loopback.options().withOffer(offer));
                LunDevice device = session.open(Lun.ZERO)) {
            assertThat(session.parameters().headerDigest()).isTrue();
            assertThat(session.parameters().dataDigest()).isTrue();
            var written = Loopback.blocks(64);
            written.fill((byte) 0x5a);
            device.write(3, written);
            var read = Loopback.blocks(64);
            device.read(3, read);
            assertThat(read.mismatch(written)).isEqualTo(-1);
        }
    }

    @Test
    void shouldFailIfARequiredDigestIsNotAvailable() throws Exception {
        Offer offer = Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C);
        try (var loopback = new Loopback(peer -> {
            peer.login("HeaderDigest=None");
            peer.awaitEnd();
        })) {
            assertThatThrownBy(
                    () -> loopback.initiator.login(loopback.options().withOffer(offer)))
                    .isInstanceOf(LoginException.class).hasMessageContaining("HeaderDigest");
        }
    }

    @Test
    void shouldDiscoverTargetsWhoseListComesInParts() throws Exception {
        try (var loopback = new Loopback(peer -> {
            peer.login("MaxRecvDataSegmentLength=8192");
            var first = peer.receive(TextRequest.class);
            assertThat(new String(peer.data(), StandardCharsets.UTF_8)).contains("SendTargets=All");
            byte[] list = text("TargetName=iqn.2026-11.org.lunar:one",
                    "TargetAddress=10.0.0.1:3260,1", "TargetAddress=[fe80::1]:3261,2",
                    "TargetName=iqn.2026-11.org.lunar:two");
            int cut = 50;
            peer.send(new TextResponse(false, true, Lun.ZERO, first.itt(), 77, peer.statSn(),
                    peer.expCmdSn(), peer.maxCmdSn()), Arrays.copyOf(list, cut));
            var next = peer.receive(TextRequest.class);
            assertThat(next.itt()).isEqualTo(first.itt());
            assertThat(next.ttt()).isEqualTo(77);
            peer.send(new TextResponse(true, false, Lun.ZERO, first.itt(), Bhs.NO_TAG,
                    peer.statSn(), peer.expCmdSn(), peer.maxCmdSn()),
                    Arrays.copyOfRange(list, cut, list.length));
            var logout = peer.receive(LogoutRequest.class);
            peer.send(new LogoutResponse(0, logout.itt(), peer.statSn(), peer.expCmdSn(),
                    peer.maxCmdSn(), 0, 0));
            peer.awaitEnd();
        })) {
            List<DiscoveredTarget> targets = loopback.initiator
                    .discover(loopback.target.portal());
            assertThat(targets).extracting(DiscoveredTarget::name).containsExactly(
                    "iqn.2026-11.org.lunar:one", "iqn.2026-11.org.lunar:two");
            assertThat(targets.getFirst().addresses()).containsExactly(
                    new TargetAddress("10.0.0.1", 3260, OptionalInt.of(1)),
                    new TargetAddress("fe80::1", 3261, OptionalInt.of(2)));
            // A target without an address is where it was asked for (RFC 7143 appendix C).
            assertThat(targets.getLast().addresses()).extracting(TargetAddress::port)
                    .containsExactly(loopback.target.port());
        }
    }

    @Test
    void shouldDiscoverTheOtherTargetsWhereAnAddressIsMalformed() throws Exception {
        try (var loopback = new Loopback(peer -> {
            peer.login();
            var request = peer.receive(TextRequest.class);
            peer.send(new TextResponse(true, false, Lun.ZERO, request.itt(), Bhs.NO_TAG,
                    peer.statSn(), peer.expCmdSn(), peer.maxCmdSn()),
                    text("TargetName=iqn.2026-11.org.lunar:one", "TargetAddress=10.0.0.1:99999,1",
                            "TargetAddress=10.0.0.1,1", "TargetName=iqn.2026-11.org.lunar:two",
                            "TargetAddress=a\u202eb:3260,1", "TargetAddress=10.0.0.2:3260,1"));
            var logout = peer.receive(LogoutRequest.class);
            peer.send(new LogoutResponse(0, logout.itt(), peer.statSn(), peer.expCmdSn(),
                    peer.maxCmdSn(), 0, 0));
            peer.awaitEnd();
        }); var log = new CapturedLog("lunar.initiator")) {
            assertThat(loopback.initiator.discover(loopback.target.portal())).containsExactly(
                    new DiscoveredTarget("iqn.2026-11.org.lunar:one", List.of(
                            new TargetAddress("10.0.0.1", 3260, OptionalInt.of(1)))),
                    new DiscoveredTarget("iqn.2026-11.org.lunar:two", List.of(
                            new TargetAddress("10.0.0.2", 3260, OptionalInt.of(1)))));
            assertThat(log.linesWith("malformed")).singleElement().asString()
                    .contains("2 ", "10.0.0.1:99999");
        }
    }

    @Test
    void shouldRejectInvalidPortalsAndNames() {
        assertThatThrownBy(() -> Initiator.create("host1"))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("iqn.");
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:test")) {
            assertThatThrownBy(() -> initiator.discover("host:port"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRejectToLogInOnceClosed() throws Exception {
        try (var loopback = new Loopback(ScriptedPeer::awaitEnd)) {
            loopback.initiator.close();
            assertThatThrownBy(loopback::login).isInstanceOf(IOException.class)
                    .hasMessageContaining("closed");
        }
    }
}
