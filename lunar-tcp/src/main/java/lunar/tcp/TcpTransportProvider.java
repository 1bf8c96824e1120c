package lunar.tcp;

import java.io.IOException;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;

/** Provides plain TCP, for the scheme {@code iscsi}. */
public final class TcpTransportProvider implements TransportProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public TcpTransportProvider() {}

    @Override
    public String scheme() { return "iscsi"; }

    @Override
    public Loops start(String name, LoopOptions options) throws IOException {
        return new TcpLoops(name, options);
    }
}
