package lunar.tcp;

import java.nio.file.Path;
import java.util.function.Function;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.spi.Transport;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Runs the tests of connections on those with TLS. */
class TlsTransportTest extends TcpTransportTest {
    @TempDir
    Path directory;
    private TestCertificates certificates;

    @BeforeEach
    void writeFiles() { certificates = TestCertificates.in(directory); }

    @Override
    Network network(int loopCount, Framing framing, Function<Transport, Endpoint> server) {
        return new Network(loopCount, framing, server, certificates);
    }
}
