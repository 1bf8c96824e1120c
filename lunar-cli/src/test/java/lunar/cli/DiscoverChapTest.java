package lunar.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which CHAP algorithms {@code lunar discover} offers. */
class DiscoverChapTest {
    private final List<String> offers = new CopyOnWriteArrayList<>();

    /** Refuses a login after its offer. */
    private void refuse(ScriptedPeer peer) throws Exception {
        LoginRequest first = peer.receive(LoginRequest.class);
        peer.send(new LoginResponse(false, false, LoginStage.SECURITY, LoginStage.SECURITY, 0, 0,
                first.isid(), 0, first.itt(), peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(), 0,
                0), "AuthMethod=CHAP\0".getBytes(UTF_8));
        LoginRequest second = peer.receive(LoginRequest.class);
        offers.add(new String(peer.data(), UTF_8).strip().replace("\0", ""));
        peer.send(peer.loginResponse(second, false, 2, 1));
    }

    @Test
    void shouldOfferTheStrongestFirstAndOnceMoreWhatOlderTargetsUnderstand(@TempDir Path folder)
            throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "a secret of some length");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        try (var target = ScriptedTarget.start(this::refuse)) {
            String user = "me:@" + secret;
            CommandRun.of("discover", target.portal(), "--chap", user).fails(1,
                    "authentication failed");
            assertThat(offers).containsExactly("CHAP_A=8,7,6,5", "CHAP_A=8,6,5,7");
            offers.clear();
            CommandRun.of("discover", target.portal(), "--chap", user, "--chap-algorithms",
                    "sha-256").fails(1, "authentication failed");
            assertThat(offers).containsExactly("CHAP_A=7");
            assertThat(target.failures()).isEmpty();
        }
    }
}
