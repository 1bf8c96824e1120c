package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalInt;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.login.Secret;
import lunar.iscsi.login.SessionType;
import lunar.iscsi.text.SessionEnd;
import lunar.target.internal.session.Sessions;
import org.junit.jupiter.api.Test;

/** Tests which logins may end a session of an initiator through another target or portal group. */
class SessionEndTest {
    private static final String HOST = "iqn.2026-11.org.host:one";
    private static final TargetSpec OPEN = TargetSpec.of("iqn.2026-11.org.lunar:open");
    private static final TargetSpec OTHER = TargetSpec.of("iqn.2026-11.org.lunar:other");

    private static TargetSpec guarded(TargetSpec target, String user, String secret) {
        return target.withInitiator(InitiatorSpec.of(InitiatorSpec.ANYBODY)
                .withChap(ChapPolicy.of(new ChapCredentials(user, Secret.of(secret)))));
    }

    private static LoginResult loginOf(String... chapUser) {
        return new LoginResult(OperationalParameters.DEFAULT, HOST, Optional.empty(),
                SessionType.NORMAL, Optional.of(OPEN.name()), Optional.empty(),
                OptionalInt.of(1), RawInitiator.isid(1), 1, 0,
                chapUser.length == 0 ? Optional.empty() : Optional.of(chapUser[0]));
    }

    @Test
    void shouldRequireTheAuthenticationOfTheOtherTarget() {
        TargetSpec asks = guarded(OTHER, "host", "a secret of it");
        assertThat(Sessions.mayEnd(loginOf(), OPEN, OTHER)).as("nobody asks").isTrue();
        assertThat(Sessions.mayEnd(loginOf(), OPEN, asks)).as("nothing proved").isFalse();
        assertThat(Sessions.mayEnd(loginOf("host"), guarded(OPEN, "host", "a secret of it"), asks))
                .as("the same secret").isTrue();
        assertThat(Sessions.mayEnd(loginOf("host"), guarded(OPEN, "host", "another one"), asks))
                .as("another secret").isFalse();
        assertThat(Sessions.mayEnd(loginOf("else"), guarded(OPEN, "else", "a secret of it"), asks))
                .as("another user").isFalse();
    }

    @Test
    void shouldNotEndASessionForANameWithoutAuthentication() throws Exception {
        try (BlockDevice device = Devices.open("ram:1MiB");
                TargetServer server = TargetFixture.builder().portal("127.0.0.1", 0).loops(2)
                        .target(OPEN.withLun(0, device)).target(OTHER.withLun(0, device)).start();
                var victim = new RawInitiator(server);
                var asking = new RawInitiator(server)) {
            assertThat(victim.loginAs(HOST, OTHER.name()).status()).isZero();
            assertThat(asking.loginAs(HOST, OPEN.name()).status()).isZero();
            var _ = server.update(guarded(OTHER.withLun(0, device), "host", "a secret of it"));
            String key = SessionEnd.KEY + "=";
            String instance = asking.text(key + "Instance").strip().substring(key.length());
            String end = key + instance + "," + RawInitiator.isid(1) + ",1," + OTHER.name();

            assertThat(asking.text(end).strip()).isEqualTo(key + "Reject");
            victim.assertSilent();

            var _ = server.update(OTHER.withLun(0, device)); // asks for nothing again
            assertThat(asking.text(end).strip()).isEqualTo(key + "Ending");
            assertThat(victim.isClosedByTarget()).isTrue();
        }
    }
}
