package lunar.tcp;

import java.io.IOException;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;

/** Provides TCP with TLS 1.3, for the scheme {@code iscsis}. An extension: RFC 7143 has IPsec instead. */
public final class TlsTransportProvider implements TransportProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public TlsTransportProvider() {}

    @Override
    public String scheme() { return Transports.ISCSIS; }

    @Override
    public Loops start(String name, LoopOptions options) throws IOException {
        return TcpLoops.withTls(name, options);
    }

    @Override
    public Credentials credentials(TlsFiles portal) throws IOException {
        return TlsEngines.ofServer(portal);
    }
}
