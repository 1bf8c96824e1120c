package lunar.it;

import java.nio.file.Path;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the block device contract on a LUN over TLS. */
@Timeout(600)
class TlsLunTest extends TransportLunContract {
    @TempDir
    Path directory;
    private TestCertificates certificates;

    TlsLunTest() { super(Transports.ISCSIS); }

    @BeforeEach
    void writeFiles() { certificates = TestCertificates.in(directory); }

    @Override
    TlsFiles tlsOfServer() { return certificates.own("server"); }

    @Override
    TlsFiles tlsOfInitiator() { return certificates.trusting(); }
}
