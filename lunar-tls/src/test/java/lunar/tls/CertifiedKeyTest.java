package lunar.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what is read from files of certificates and keys, and the errors for those that cannot be used. */
class CertifiedKeyTest {
    @TempDir
    Path folder;

    @BeforeEach
    void write() throws IOException { var _ = TestCertificates.in(folder); }

    @Test
    void shouldReadChainsAndKeys() throws Exception {
        Path both = folder.resolve("chain.pem");
        Files.writeString(both, "text before\n" + text("server.pem") + "between\r\n"
                + text("ca.pem").replace("\n", "\r\n"));
        assertThat(new PemFile("the file", both).certificates()).hasSize(2);
        assertThat(CertifiedKey.read(both, folder.resolve("server.key")).certificate())
                .isEqualTo(new PemFile("the file", folder.resolve("server.pem")).certificates()
                        .getFirst());
        assertThat(CertifiedKey.read(folder.resolve("renewed.pem"), folder.resolve("renewed.key"))
                .certificate().getPublicKey().getAlgorithm()).isEqualTo("RSA");
    }

    @Test
    void shouldTellWhenTheCertificateIsNotValid() throws Exception {
        var key = CertifiedKey.read(folder.resolve("server.pem"), folder.resolve("server.key"));
        Duration notice = Duration.ofDays(14);
        assertThat(key.problem(Instant.parse("2026-01-01T00:00:00Z"), notice)).isEmpty();
        assertThat(key.problem(Instant.parse("2019-01-01T00:00:00Z"), notice).orElseThrow())
                .contains("server.pem", "not valid before 2020", "clock");
        assertThat(key.problem(Instant.parse("2121-01-01T00:00:00Z"), notice).orElseThrow())
                .contains("server.pem", "expired on 2120", "renew");
        assertThat(key.problem(key.end().minus(Duration.ofDays(14)), notice)).isEmpty();
        Instant late = key.end().minus(Duration.ofDays(13));
        assertThat(key.problem(late, notice)).contains("the certificate in "
                + folder.resolve("server.pem") + " expires on " + key.end() + ": renew it");
        assertThat(key.problem(late, Duration.ZERO)).isEmpty();
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
        assertThatThrownBy(() -> TlsContext.create(new KeyManager[0],
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
    void shouldRefuseKeysOfOtherSizes() throws Exception {
        refusesKeyOf("RSA", 1024, "other.pem");
        refusesKeyOf("RSA", 3072, "other.pem");
        refusesKeyOf("EC", 384, "server.pem");
    }

    private void refusesKeyOf(String algorithm, int bits, String certificate) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(bits);
        String key = key("generated.key", "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder()
                .encodeToString(generator.generateKeyPair().getPrivate().getEncoded())
                + "\n-----END PRIVATE KEY-----\n");
        assertFails(certificate, key, "does not have the key of", certificate);
    }

    private String key(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text, StandardCharsets.US_ASCII);
        return name;
    }

    private String text(String name) throws IOException {
        return Files.readString(folder.resolve(name), StandardCharsets.US_ASCII);
    }

    /** Asserts one line with some words, and nothing of a key. */
    private void assertFails(String certificate, String key, String... words) {
        assertThatThrownBy(
                () -> CertifiedKey.read(folder.resolve(certificate), folder.resolve(key)))
                .isInstanceOf(IOException.class).message().contains(words)
                .doesNotContain("MIG", "\n");
    }
}
