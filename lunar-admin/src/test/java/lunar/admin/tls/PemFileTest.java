package lunar.admin.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is read from files of certificates and keys, and the errors for those that cannot be used. */
class PemFileTest {
    @TempDir
    Path folder;

    @BeforeEach
    void write() throws IOException { var _ = TestCertificates.in(folder); }

    @Test
    void shouldReadChainsAndKeys() throws Exception {
        Path both = folder.resolve("chain.pem");
        Files.writeString(both, "text before\n" + text("server.pem") + "between\r\n"
                + text("ca.pem").replace("\n", "\r\n"));
        assertThat(PemFile.certificates("the file", both)).hasSize(2);
        assertThat(PemFile.privateKey(folder.resolve("server.key")).getAlgorithm())
                .isEqualTo("EC");
        assertThat(PemFile.privateKey(folder.resolve("renewed.key")).getAlgorithm())
                .isEqualTo("RSA");
        Identity identity = Identity.read(both, folder.resolve("server.key"));
        assertThat(identity.problem(Instant.parse("2026-01-01T00:00:00Z"))).isEmpty();
        assertThat(identity.problem(Instant.parse("2019-01-01T00:00:00Z")).orElseThrow())
                .contains("chain.pem", "not valid before 2020", "clock");
        assertThat(identity.problem(Instant.parse("2121-01-01T00:00:00Z")).orElseThrow())
                .contains("chain.pem", "expired on 2120", "renew");
    }

    @Test
    void shouldSayWhatIsWrongWithCertificates() throws Exception {
        assertCertificateFails("none.pem", "the certificate file", "does not exist");
        assertCertificateFails("server.key", "has no certificate", "BEGIN CERTIFICATE");
        String pem = text("server.pem");
        Files.writeString(folder.resolve("cut.pem"), pem.substring(0, pem.length() - 100));
        assertCertificateFails("cut.pem", "has no certificate");
        Files.writeString(folder.resolve("bad.pem"), pem.replaceFirst("\nMII", "\nAAA"));
        assertCertificateFails("bad.pem", "has a certificate that cannot be read: its number 1");
        Files.writeString(folder.resolve("long.pem"), "x".repeat(5 << 20));
        assertCertificateFails("long.pem", "has more than");
        Files.writeString(folder.resolve("unordered.pem"), pem + text("other-ca.pem"));
        assertCertificateFails("unordered.pem", "then the certificate of its issuer");
        assertThatThrownBy(() -> Identity.context(Optional.empty(),
                Optional.of(folder.resolve("server.key")))).hasMessageContaining("the CA file");
    }

    private void assertCertificateFails(String name, String... words) {
        assertFails(name, "server.key", words);
    }

    @Test
    void shouldSayWhatIsWrongWithKeys() throws Exception {
        assertFails("server.pem", "none.key", "the key file", "does not exist");
        assertFails("server.pem", "server-encrypted.key", "is encrypted", "openssl pkey -in");
        assertFails("server.pem", "server-sec1.key", "PKCS#8", "openssl pkcs8 -topk8 -nocrypt");
        assertFails("renewed.pem", "renewed-pkcs1.key", "PKCS#8", "openssl pkcs8 -topk8");
        assertFails("server.pem", "client.key", "does not have the key of", "server.pem");
        assertFails("server.pem", "renewed.key", "does not have the key of", "server.pem");
        assertFails("server.pem", key("empty.key", "no key"), "has no private key");
        assertFails("server.pem", key("two.key", text("server.key") + text("client.key")),
                "has 2 private keys");
        String good = text("server.key");
        assertFails("server.pem", key("bad.key", good.replaceFirst("\nMIG", "\nAAA")),
                "has a key that cannot be read");
        assertFails("server.pem", key("worse.key", good.replaceFirst("\nMIG", "\nMIGAA=A")),
                "is damaged", "not Base64");
    }

    @Test
    void shouldRefuseAKeyThatOthersCanAccess() throws Exception {
        for (String mode : new String[]{"rw-r-----", "rw--w----", "rw----r--", "rw-----w-"}) {
            Files.setPosixFilePermissions(folder.resolve("server.key"),
                    PosixFilePermissions.fromString(mode));
            assertFails("server.pem", "server.key", "can be accessed by other users: chmod 600");
        }
    }

    private String key(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text, StandardCharsets.US_ASCII);
        Files.setPosixFilePermissions(folder.resolve(name),
                PosixFilePermissions.fromString("rw-------"));
        return name;
    }

    private String text(String name) throws IOException {
        return Files.readString(folder.resolve(name), StandardCharsets.US_ASCII);
    }

    /** Asserts one line with some words, and nothing of a key. */
    private void assertFails(String certificate, String key, String... words) {
        assertThatThrownBy(
                () -> Identity.read(folder.resolve(certificate), folder.resolve(key)))
                .isInstanceOf(IOException.class).message().contains(words)
                .doesNotContain("MIG", "\n");
    }
}
