package lunar.initiator;

import static lunar.iscsi.login.ChapAlgorithm.MD5;
import static lunar.iscsi.login.ChapAlgorithm.SHA256;
import static lunar.iscsi.login.ChapAlgorithm.SHA3_256;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.InitiatorLogin.Settings;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.Secret;
import lunar.iscsi.pdu.Isid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which secrets a login gets, and when. Authentication itself is tested with the target. */
class ChapOptionsTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:demo";
    private static final ChapCredentials OWN = credentials("me", "a secret of the host");
    private static final ChapCredentials THEIRS = credentials("them", "a secret of the target");
    private static final Settings BARE = Settings.normal("iqn.2026-11.org.lunar:test", TARGET,
            Isid.random(1, 1), Offer.DEFAULT);

    @TempDir
    Path folder;

    private static ChapCredentials credentials(String name, String secret) {
        return new ChapCredentials(name, Secret.of(secret));
    }

    @Test
    void shouldOfferWhatThePolicySaysInItsOrder() throws Exception {
        var login = ChapOptions.of(OWN).withAlgorithms(List.of(SHA3_256, SHA256))
                .authenticate(BARE);
        assertThat(login.algorithms()).containsExactly(SHA3_256, SHA256);
        assertThat(ChapOptions.of(OWN).authenticate(BARE).algorithms())
                .isEqualTo(ChapAlgorithm.DEFAULT_ORDER).endsWith(SHA256);
    }

    @Test
    void shouldRejectShortSecretsOffTheLoopback() throws Exception {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        InetAddress there = InetAddress.ofLiteral("192.0.2.1");
        ChapCredentials tooShort = credentials("me", "eleven byte");
        ChapOptions.requireLongSecrets(BARE.withChap(tooShort), here, "login");
        ChapOptions.requireLongSecrets(BARE.withMutualChap(OWN, THEIRS), there, "login");
        ChapOptions.requireLongSecrets(BARE, there, "login");
        for (Settings refused : List.of(BARE.withChap(tooShort),
                BARE.withMutualChap(OWN, tooShort))) {
            assertThatThrownBy(() -> ChapOptions.requireLongSecrets(refused, there, "login"))
                    .isInstanceOf(IOException.class).hasMessageContaining("12 bytes")
                    .message().doesNotContain("eleven");
        }
    }

    @Test
    void shouldRequestCredentialsAtEachLogin() throws Exception {
        var asked = new AtomicInteger();
        var options = ChapOptions
                .of(target -> credentials("me", "secret " + asked.incrementAndGet() + target))
                .withTarget(_ -> credentials("them", "their secret " + asked.get()));
        assertThat(asked).as("nobody logs in yet").hasValue(0);
        for (int i = 1; i < 4; i++) {
            var login = options.authenticate(BARE);
            assertThat(login.credentials()).contains(credentials("me", "secret " + i + TARGET));
            assertThat(login.targetCredentials())
                    .contains(credentials("them", "their secret " + i));
        }
        var discovery = Settings.discovery("iqn.2026-11.org.lunar:test", Isid.random(1, 1),
                Offer.DEFAULT);
        assertThat(options.authenticate(discovery).credentials())
                .contains(credentials("me", "secret 4"));
    }

    @Test
    void shouldReadSecretFilesAtEachLogin() throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "the first one\n");
        var options = ChapOptions.of(ChapSource.file("me", file));
        assertThat(options.authenticate(BARE).credentials())
                .contains(credentials("me", "the first one"));
        Files.writeString(file, "another one");
        assertThat(options.authenticate(BARE).credentials())
                .contains(credentials("me", "another one"));
        Files.delete(file);
        assertThatThrownBy(() -> options.authenticate(BARE)).isInstanceOf(IOException.class)
                .hasMessageContaining(TARGET).hasMessageContaining(file + " does not exist");
    }

    @Test
    void shouldFailTheLoginWhereThereAreNoCredentials() {
        var sealed = ChapOptions.of(_ -> {
            throw new IOException("the vault is sealed");
        });
        assertThatThrownBy(() -> sealed.authenticate(BARE)).isInstanceOf(IOException.class)
                .hasMessage("login to " + TARGET
                        + ": cannot get our CHAP credentials: the vault is sealed");
        var broken = ChapOptions.of(OWN).withTarget(_ -> {
            throw new IllegalStateException("no such key");
        });
        assertThatThrownBy(() -> broken.authenticate(BARE)).isInstanceOf(IOException.class)
                .hasMessageContaining("the target's CHAP credentials: no such key");
        assertThatThrownBy(() -> ChapOptions.of((ChapSource) _ -> null).authenticate(BARE))
                .isInstanceOf(IOException.class).hasMessageContaining("returned none");
    }

    @Test
    void shouldRejectOneSecretForBothEnds() {
        var same = new ChapCredentials("them", OWN.secret());
        assertThatThrownBy(() -> ChapOptions.of(OWN).withTarget(same))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("12.1.3");
        assertThatThrownBy(() -> ChapOptions.of(OWN).withTarget(_ -> same).authenticate(BARE))
                .isInstanceOf(IOException.class).hasMessageContaining("12.1.3");
    }

    @Test
    void shouldAcceptEachAlgorithmOnce() {
        for (var wrong : List.of(List.<ChapAlgorithm>of(), List.of(MD5, SHA256, MD5))) {
            assertThatThrownBy(() -> ChapOptions.of(OWN).withAlgorithms(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("at least one algorithm");
        }
    }

    @Test
    void shouldKeepThePolicyInTheShortWays() {
        var session = SessionOptions.of("host", 3260, TARGET)
                .withChap(ChapOptions.of(OWN).withAlgorithms(List.of(SHA256)));
        var mutual = session.withMutualChap(OWN, THEIRS).withQueueDepth(3);
        assertThat(mutual.chap().orElseThrow().algorithms()).containsExactly(SHA256);
        assertThat(mutual.credentials()).contains(OWN);
        assertThat(mutual.targetCredentials()).contains(THEIRS);
        assertThat(mutual.withChap(credentials("you", "other")).targetCredentials())
                .contains(THEIRS);
        assertThat(mutual.forDiscovery().chap()).isEqualTo(mutual.chap());
    }

    @Test
    void shouldShowNoSecret() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "a secret in a file");
        var fixed = SessionOptions.of("host", 3260, TARGET).withMutualChap(OWN, THEIRS);
        var read = fixed.withChap(ChapOptions.of(ChapSource.file("me", file)));
        for (Object shown : List.of(fixed, read, fixed.chap(), read.chap(),
                read.chap().orElseThrow().authenticate(BARE))) {
            assertThat(shown.toString()).contains("me").doesNotContain("a secret");
        }
    }
}
