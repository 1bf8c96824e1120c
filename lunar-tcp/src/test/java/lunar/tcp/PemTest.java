package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.util.Base64;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PemTest {
    @TempDir
    Path directory;
    private TestCertificates files;

    @BeforeEach
    void writeFiles() { files = TestCertificates.in(directory); }

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("file.pem"), text);
    }

    private X509Certificate server() throws IOException {
        return Pem.certificates(files.file("server.pem")).getFirst();
    }

    private static String block(String label) {
        return "-----BEGIN " + label + "-----\nAAAA\n-----END " + label + "-----\n";
    }

    @Test
    void shouldReadAChainWithTextAroundIt() throws Exception {
        Path chain = file("subject=CN=server\n" + Files.readString(files.file("server.pem"))
                + "\nissuer\n" + Files.readString(files.file("ca.pem")).replace("\n", "\r\n"));
        assertThat(Pem.certificates(chain)).hasSize(2).first().isEqualTo(server());
    }

    @Test
    void shouldReadKeysOfTheirCertificates() throws Exception {
        assertThat(Pem.key(files.file("server.key"), server()).getAlgorithm()).isEqualTo("EC");
        assertThat(Pem.key(files.file("other.key"),
                Pem.certificates(files.file("other.pem")).getFirst()).getAlgorithm())
                .isEqualTo("RSA");
    }

    @Test
    void shouldRefuseKeysOfOtherCertificates() throws Exception {
        for (String name : new String[]{"client.key", "other.key"}) {
            assertThatIOException().isThrownBy(() -> Pem.key(files.file(name), server()))
                    .withMessage(files.file(name)
                            + ": the key does not belong to the certificate");
        }
    }

    @Test
    void shouldRefuseKeysOfOtherSizes() throws Exception {
        X509Certificate other = Pem.certificates(files.file("other.pem")).getFirst();
        refusesKeyOf("RSA", 1024, other);
        refusesKeyOf("RSA", 3072, other);
        refusesKeyOf("EC", 384, server());
    }

    private void refusesKeyOf(String algorithm, int bits, X509Certificate certificate)
            throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(bits);
        Path key = file("-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder()
                .encodeToString(generator.generateKeyPair().getPrivate().getEncoded())
                + "\n-----END PRIVATE KEY-----\n");
        assertThatIOException().as("%s %d", algorithm, bits)
                .isThrownBy(() -> Pem.key(key, certificate))
                .withMessage(key + ": the key does not belong to the certificate");
    }

    @Test
    void shouldNameTheCommandThatConvertsAKey() throws Exception {
        X509Certificate server = server();
        for (String label : new String[]{"RSA PRIVATE KEY", "EC PRIVATE KEY"}) {
            Path key = file(block(label));
            assertThatIOException().isThrownBy(() -> Pem.key(key, server))
                    .withMessage(key + ": the key is an " + label + ", not PKCS#8; convert it"
                            + " with: openssl pkcs8 -topk8 -nocrypt -in " + key + " -out NEW");
        }
        Path key = file(block("ENCRYPTED PRIVATE KEY"));
        assertThatIOException().isThrownBy(() -> Pem.key(key, server))
                .withMessageContaining("the key is encrypted")
                .withMessageContaining("openssl pkcs8 -in " + key);
    }

    @Test
    void shouldDescribeFilesThatCannotBeUsed() throws Exception {
        Path absent = directory.resolve("absent");
        assertThatIOException().isThrownBy(() -> Pem.certificates(absent))
                .withMessage(absent + " does not exist");
        assertThatIOException().isThrownBy(() -> Pem.certificates(directory))
                .withMessageContaining("cannot be read");
        assertThatIOException().isThrownBy(() -> Pem.certificates(files.file("server.key")))
                .withMessageContaining("has no certificate");
        assertThatIOException()
                .isThrownBy(() -> Pem.key(files.file("server.pem"), server()))
                .withMessageContaining("has no private key");
        Path broken = file(block("CERTIFICATE"));
        assertThatIOException().isThrownBy(() -> Pem.certificates(broken))
                .withMessageContaining("cannot be decoded");
        Path large = file("x".repeat((1 << 20) + 1));
        assertThatIOException().isThrownBy(() -> Pem.certificates(large))
                .withMessageContaining("longer than");
    }
}
