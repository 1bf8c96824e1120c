package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertPath;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsFailureTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.7", 3261);
    private static final InetSocketAddress PEER_V6 = new InetSocketAddress("2001:db8::7", 3261);
    private static final String FAILED = "TLS handshake with 192.0.2.7:3261 failed: ";

    @TempDir
    Path directory;
    private TestCertificates files;

    @BeforeEach
    void writeFiles() { files = TestCertificates.in(directory); }

    private static String handshake(IOException cause) {
        return TlsFailure.ofHandshake(PEER, true, cause).getMessage();
    }

    /** Returns an exception as the JDK makes it when a chain is not valid. */
    private static SSLException invalid(Exception reason) {
        var failure = new SSLHandshakeException("(certificate_unknown) PKIX path validation failed:"
                + " java.security.cert.CertPathValidatorException: validity check failed");
        failure.initCause(new CertificateException("PKIX path validation failed", reason));
        return failure;
    }

    private Certificate certificate(CertificateFactory factory, String name) throws Exception {
        return factory.generateCertificate(
                new ByteArrayInputStream(Files.readAllBytes(files.file(name))));
    }

    private CertPathValidatorException at(int index, CertificateException reason)
            throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        CertPath path = factory.generateCertPath(List.of(certificate(factory, "expired.pem"),
                certificate(factory, "ca.pem")));
        return new CertPathValidatorException("validity check failed", reason, path, index,
                BasicReason.UNSPECIFIED);
    }

    @Test
    void shouldDescribeWhichCertificateExpired() throws Exception {
        var reason = new CertificateExpiredException("NotAfter: ...");
        assertThat(handshake(invalid(at(0, reason)))).isEqualTo(FAILED
                + "the peer's certificate expired on 2021-01-01T00:00:00Z; renew it, or check this"
                + " machine's clock");
        assertThat(handshake(invalid(at(1, reason)))).isEqualTo(FAILED
                + "the certificate of a CA that issued the peer's expired on 2120-01-01T00:00:00Z;"
                + " renew it, or check this machine's clock");
        assertThat(handshake(invalid(reason))).isEqualTo(FAILED
                + "the peer's certificate, or that of a CA that issued it, has expired; renew it,"
                + " or check this machine's clock");
    }

    @Test
    void shouldDescribeWhichCertificateIsNotYetValid() throws Exception {
        var reason = new CertificateNotYetValidException("NotBefore: ...");
        assertThat(handshake(invalid(at(0, reason)))).isEqualTo(FAILED
                + "the peer's certificate is not valid before 2020-01-01T00:00:00Z; check this"
                + " machine's clock");
        assertThat(handshake(invalid(reason))).isEqualTo(FAILED
                + "the peer's certificate, or that of a CA that issued it, is not yet valid; check"
                + " this machine's clock");
    }

    @Test
    void shouldSayWhatToDoAboutTheNamesOfACertificate() {
        String remedy = "; connect by a name in the certificate, or issue one with this name or"
                + " address as subjectAltName";
        for (String text : List.of("No subject alternative names matching IP address 192.0.2.7"
                + " found", "No subject alternative DNS name matching san.example found",
                "No name matching san.example found", "No subject alternative names present")) {
            assertThat(handshake(new SSLHandshakeException("(certificate_unknown) " + text)))
                    .isEqualTo(FAILED + text + remedy);
            assertThat(handshake(new SSLHandshakeException(text + ".")))
                    .isEqualTo(FAILED + text + remedy);
        }
    }

    @Test
    void shouldWriteIpv6AddressesInBrackets() {
        assertThat(TlsFailure.ofHandshake(PEER_V6, false, new EOFException("end")))
                .hasMessage("TLS handshake with [2001:db8:0:0:0:0:0:7]:3261 failed: the peer"
                        + " closed the connection");
        assertThat(TlsFailure.ofConnection(PEER_V6, new SSLException("record too long")))
                .hasMessage("TLS with [2001:db8:0:0:0:0:0:7]:3261 failed: record too long");
    }

    @Test
    void shouldReturnOtherFailuresUnchanged() {
        var failure = new IOException("Connection reset");
        assertThat(TlsFailure.ofConnection(PEER, failure)).isSameAs(failure);
    }
}
