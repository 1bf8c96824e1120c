package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Secret;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.TextRequest;
import lunar.scsi.Lun;
import lunar.target.internal.session.TargetNode;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;

/** Tests that names and values chosen by peers are escaped in every line of the log. */
class PeerTextInLogTest {
    /** A control sequence of C1, a line separator and a mark that reverses text; no blank, so it is an iSCSI name. */
    private static final String HOSTILE = "iqn.2026-11.org.host:\u009b2l\u2028\u202ex";
    private static final String ESCAPED = "iqn.2026-11.org.host:\\x9b2l\\u2028\\u202ex";

    private static byte[] text(String... keys) {
        return (String.join("\0", keys) + "\0").getBytes(StandardCharsets.UTF_8);
    }

    /** A Login Request in the security stage. */
    private static void secure(RawInitiator initiator, String... keys) throws IOException {
        initiator.send(new LoginRequest(false, false, LoginStage.SECURITY, LoginStage.SECURITY, 0,
                0, RawInitiator.isid(1), 0, initiator.newTag(), 0, initiator.cmdSn(), 0),
                text(keys));
    }

    private static void assertEscaped(CapturedLog log, int count) {
        TargetFixture.await("the lines", () -> log.linesWith(ESCAPED).size() >= count);
        List<String> all = log.linesWith("");
        assertThat(all).allMatch(line -> line.chars().allMatch(c -> c >= ' ' && c < 0x7f));
    }

    @Test
    void shouldEscapeInitiatorNameOfALoginAndOfASession() throws Exception {
        try (var target = new TargetFixture(); var log = new CapturedLog("lunar.target")) {
            try (var refused = new RawInitiator(target.server)) {
                assertThat(refused.loginAs(HOSTILE, "iqn.2026-11.org.lunar:none").status())
                        .isEqualTo(0x0203);
            }
            assertEscaped(log, 1);
            try (var initiator = new RawInitiator(target.server)) {
                assertThat(initiator.loginAs(HOSTILE, RawInitiator.TARGET).status()).isZero();
                initiator.sendBytes(new byte[]{0x3f, 0, 0, 0});
                initiator.sendBytes(new byte[44]);
                assertEscaped(log, 2);
            }
        }
    }

    @Test
    void shouldEscapeTargetNameThatDoesNotExist() throws Exception {
        try (var target = new TargetFixture();
                var log = new CapturedLog("lunar.target");
                var initiator = new RawInitiator(target.server)) {
            assertThat(initiator.loginAs(RawInitiator.NAME, HOSTILE).status()).isEqualTo(0x0203);
            assertEscaped(log, 1);
        }
    }

    @Test
    void shouldEscapeKeysOfASession() throws Exception {
        try (var target = new TargetFixture();
                var log = new CapturedLog("lunar.target");
                var initiator = target.ready(0)) {
            initiator.send(
                    new TextRequest(true, true, false, Lun.ZERO, initiator.newTag(), Bhs.NO_TAG,
                            initiator.cmdSn(), initiator.expStatSn()),
                    text("SendTargets=a b" + HOSTILE));
            assertEscaped(log, 1);
        }
    }

    @Test
    void shouldEscapeChapUser() throws Exception {
        var user = new ChapCredentials("me", Secret.of("a secret of some length"));
        try (var target = new TargetFixture();
                var log = new CapturedLog("lunar.target");
                var initiator = new RawInitiator(target.server)) {
            var _ = target.server.update(target.server.spec(RawInitiator.TARGET).orElseThrow()
                    .withChap(ChapPolicy.of(user)));
            secure(initiator, "InitiatorName=" + RawInitiator.NAME,
                    "TargetName=" + RawInitiator.TARGET, "SessionType=Normal", "AuthMethod=CHAP");
            assertThat(initiator.loginAnswer().status()).isZero();
            secure(initiator, "CHAP_A=5");
            assertThat(initiator.loginAnswer().status()).isZero();
            secure(initiator, "CHAP_N=" + HOSTILE, "CHAP_R=0x00");
            assertThat(initiator.loginAnswer().status()).isEqualTo(0x0201);
            assertEscaped(log, 1);
        }
    }

    @Test
    void shouldEscapeInitiatorNameOfANexus() throws Exception {
        try (var target = new TargetFixture(); var initiator = new RawInitiator(target.server)) {
            assertThat(initiator.loginAs(HOSTILE, RawInitiator.TARGET).status()).isZero();
            TargetNode node = Objects
                    .requireNonNull(target.server.shared().target(RawInitiator.TARGET));
            TargetFixture.await("the session", () -> !node.sessions().isEmpty());
            assertThat(node.sessions()).extracting(session -> session.nexus().toString())
                    .containsExactly(ESCAPED + " on " + RawInitiator.TARGET);
        }
    }
}
