package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Secret;
import lunar.iscsi.spi.TlsFiles;
import lunar.scsi.Lun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IscsiUriTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:demo";

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"host, host, 3260", "host:3261, host, 3261", "10.0.0.1:1, 10.0.0.1, 1",
            "[fe80::1], fe80::1, 3260", "[::1]:65535, ::1, 65535", "user%secret@host:7, host, 7",
            "user%secret@[::1]:7, ::1, 7"})
    void shouldReadHostAndPort(String authority, String host, int port) {
        var portal = IscsiUri.parse("iscsi://" + authority + "/" + TARGET).sessionOptions()
                .portal();
        assertThat(portal.host()).isEqualTo(host);
        assertThat(portal.port()).isEqualTo(port);
    }

    @Test
    void shouldReadTargetAndLun() {
        var uri = IscsiUri.parse("iser://host/" + TARGET + "/17");
        assertThat(uri.sessionOptions().targetName()).isEqualTo(TARGET);
        assertThat(uri.sessionOptions().scheme()).isEqualTo("iser");
        assertThat(uri.lun()).contains(Lun.of(17));
        assertThat(IscsiUri.parse("iscsi://host/" + TARGET).lun()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"user%secret, user, secret", "user%se%cret, user, se%cret",
            "user%se%40%2fcret, user, se@/cret", "user%p@ss, user, p@ss", "a b%c+d, a b, c+d",
            "user%100%25, user, 100%", "user%%41, user, A"})
    void shouldPartUserAndSecretAtTheFirstPercentSign(String written, String user, String secret) {
        assertThat(IscsiUri.parse("iscsi://" + written + "@host/" + TARGET).sessionOptions()
                .credentials()).contains(new ChapCredentials(user, Secret.of(secret)));
    }

    @Test
    void shouldReadFilesOfTls() {
        String bare = "iscsis://host/" + TARGET;
        assertThat(IscsiUri.parse(bare).sessionOptions().tls()).isEqualTo(TlsFiles.NONE);
        SessionOptions options = IscsiUri.parse(
                bare + "?tls-ca=ca.pem&tls-certificate=own.pem&tls-key=own.key").sessionOptions();
        assertThat(options.scheme()).isEqualTo("iscsis");
        assertThat(options.tls()).isEqualTo(
                TlsFiles.of(Path.of("own.pem"), Path.of("own.key"))
                        .withAuthorities(Path.of("ca.pem")));
        assertThat(options.forDiscovery().tls()).isEqualTo(options.tls());
        assertThat(options.withQueueDepth(2).withConnections(2).tls()).isEqualTo(options.tls());
        for (String wrong : new String[]{"?tls-key=own.key", "?tls-certificate=own.pem"}) {
            assertThatIllegalArgumentException().isThrownBy(() -> IscsiUri.parse(bare + wrong))
                    .withMessageContaining("needs both tls-certificate and tls-key");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> IscsiUri.parse("iscsi://host/" + TARGET + "?tls-ca=ca.pem"))
                .withMessageContaining("has a tls-ca, which is for iscsis:");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            keep-alive=500ms&command-timeout=5s    | 5000 | 10000 | 5000  | 5000 | 5000 | 500
            login-timeout=2s                       | 2000 | 2000  | 30000 | 5000 | 5000 | 5000
            login-timeout=20s                      | 5000 | 20000 | 30000 | 5000 | 5000 | 5000
            connect-timeout=8s&login-timeout=2s    | 8000 | 2000  | 30000 | 5000 | 5000 | 5000
            abort-timeout=700ms&logout-timeout=1ms | 5000 | 10000 | 30000 | 700  | 1    | 5000
            connect-timeout=999999s           | 999999000 | 10000 | 30000 | 5000 | 5000 | 5000
            """)
    void shouldReadTimeouts(String options, int connectMs, int loginMs, int commandMs, int abortMs,
            int logoutMs, int keepAliveMs) {
        assertThat(IscsiUri.parse("iser://host/" + TARGET + "?" + options).sessionOptions()
                .timeouts()).isEqualTo(new Timeouts(connectMs, loginMs, commandMs, abortMs,
                        logoutMs, keepAliveMs));
    }

    @ParameterizedTest
    @ValueSource(strings = {"keep-alive", "connect-timeout", "login-timeout", "command-timeout",
            "abort-timeout", "logout-timeout"})
    void shouldNameTheTimeoutThatIsWrong(String option) {
        for (String time : new String[]{"", "5", "0s", "0ms", "-1s", "1m", "1.5s", "5 s",
                "1000000s", "99999999999999999999ms"}) {
            assertThatThrownBy(
                    () -> IscsiUri.parse("iscsi://host/" + TARGET + "?" + option + "=" + time))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has '" + time + "' as " + option
                            + ", which must be a time of 1ms to 999999s, such as 500ms or 10s")
                    .message().doesNotContain("\n");
        }
    }

    @Test
    void shouldReadSecretsFromFiles() throws Exception {
        Path own = Files.writeString(folder.resolve("own"), "secret of the initiator\n");
        Path theirs = Files.writeString(folder.resolve("theirs"), " secret of the target");
        var options = IscsiUri.parse("iscsi://user@host/" + TARGET + "?secret-file=" + own
                + "&mutual-user=them&mutual-secret-file=" + theirs).sessionOptions();
        ChapOptions chap = options.chap().orElseThrow();
        assertThat(chap.own().credentials(TARGET))
                .isEqualTo(new ChapCredentials("user", Secret.of("secret of the initiator")));
        assertThat(chap.target().orElseThrow().credentials(TARGET))
                .isEqualTo(new ChapCredentials("them", Secret.of(" secret of the target")));
        assertThat(chap.algorithms()).isEqualTo(ChapAlgorithm.DEFAULT_ORDER);
        Files.writeString(own, "another secret");
        assertThat(chap.own().credentials(TARGET).secret())
                .as("of the next login").isEqualTo(Secret.of("another secret"));
    }

    @Test
    void shouldReadChapAlgorithmsInTheirOrder() {
        assertThat(IscsiUri.parse("iscsi://user%secret@host/" + TARGET
                + "?chap-algorithms=sha3-256,SHA-256").sessionOptions().chap().orElseThrow()
                .algorithms()).containsExactly(ChapAlgorithm.SHA3_256, ChapAlgorithm.SHA256);
        assertThatThrownBy(() -> IscsiUri
                .parse("iscsi://user%secret@host/" + TARGET + "?chap-algorithms=sha512"))
                .hasMessageContaining("chap-algorithms").hasMessageContaining("'sha512'")
                .hasMessageContaining("md5, sha-1, sha-256, sha3-256");
    }

    @Test
    void shouldReadDigestsDepthAndInitiator() {
        var uri = IscsiUri.parse("iscsi://host/" + TARGET
                + "/0?header-digest=crc32c&data-digest=none&queue-depth=7&sessions=1"
                + "&initiator=iqn.2026-11.org.lunar:me");
        assertThat(uri.sessionOptions().offer().headerDigest())
                .isEqualTo(DigestChoice.REQUIRE_CRC32C);
        assertThat(uri.sessionOptions().offer().dataDigest()).isEqualTo(DigestChoice.NONE);
        assertThat(uri.sessionOptions().queueDepth()).isEqualTo(7);
        assertThat(uri.initiatorName()).contains("iqn.2026-11.org.lunar:me");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "host", "iscsi:", "iscsi://", "iscsi://host", "iscsi://host/",
            "iscsi:///" + TARGET, "iscsi://host/disk", "iscsi://host:0/" + TARGET,
            "iscsi://host:65536/" + TARGET, "iscsi://host:x/" + TARGET,
            "iscsi://[::1/" + TARGET, "iscsi://host/" + TARGET + "/x",
            "iscsi://host/" + TARGET + "/-1", "iscsi://host/" + TARGET + "/99999",
            "iscsi://host/" + TARGET + "/0/1", "iscsi://user@host/" + TARGET,
            "iscsi://user%@host/" + TARGET, "iscsi://@host/" + TARGET,
            "iscsi://host/" + TARGET + "?header-digest=md5", "iscsi://host/" + TARGET + "?depth=1",
            "iscsi://host/" + TARGET + "?queue-depth=0", "iscsi://host/" + TARGET + "?sessions=33",
            "iscsi://host/" + TARGET + "?policy=best",
            "iscsi://host/" + TARGET + "?no-path-retry=soon",
            "iscsi://host/" + TARGET + "?connections=33",
            "iscsi://host/" + TARGET + "?error-recovery-level=3",
            "iscsi://host/" + TARGET + "?keep-alive=10", "iscsi://host/" + TARGET
                    + "?keep-alive=0s",
            "iscsi://host/" + TARGET + "?command-timeout=1000000s",
            "iscsi://host/" + TARGET + "?sessions=x",
            "iscsi://host/" + TARGET + "?secret-file=/etc/hosts",
            "iscsi://u@host/" + TARGET + "?secret-file=/no/such/file",
            "iscsi://u%s@host/" + TARGET + "?mutual-user=x",
            "iscsi://host/" + TARGET + "?mutual-user=x&mutual-secret-file=/etc/hosts",
            "iscsi://host/" + TARGET + "?chap-algorithms=sha-256",
            "iscsi://u%s@host/" + TARGET + "?chap-algorithms=",
            "iscsi://u%s@host/" + TARGET + "?chap-algorithms=md5,md5",
            "ram:1GiB"})
    void shouldRejectInOneLine(String uri) {
        assertThatThrownBy(() -> IscsiUri.parse(uri)).isInstanceOf(IllegalArgumentException.class)
                .message().isNotBlank().doesNotContain("\n");
    }

    @Test
    void shouldAcceptConnectionsAndRecovery() {
        SessionOptions options = IscsiUri.parse(
                "iscsi://host/" + TARGET + "?connections=4&error-recovery-level=2")
                .sessionOptions();
        assertThat(options.connections()).isEqualTo(4);
        assertThat(options.offer().errorRecoveryLevel()).isEqualTo(2);
    }

    @Test
    void shouldNeverShowASecret() {
        for (String secret : new String[]{"hidden!", "hid@den!", "hidden!%zz", "hid/den!"}) {
            String written = "iscsi://user%" + secret + "@host/" + TARGET;
            try {
                assertThat(IscsiUri.parse(written).toString()).doesNotContain("den!");
                IscsiUri.parse(written + "/nonsense");
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).doesNotContain("den!");
            }
        }
    }

    @Test
    void shouldRejectOneSecretForBothDirections() throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "the very same");
        assertThatThrownBy(() -> IscsiUri.parse("iscsi://user@host/" + TARGET + "?secret-file="
                + file + "&mutual-user=them&mutual-secret-file=" + file))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("same secret");
    }
}
