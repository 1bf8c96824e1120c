package lunar.iser;

import java.io.IOException;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;

/** Connections over RDMA, for the scheme {@link #SCHEME}. */
public final class IserTransportProvider implements TransportProvider {
    /** Scheme of these connections. */
    public static final String SCHEME = Transports.ISER;

    /** Called by {@link java.util.ServiceLoader}. */
    public IserTransportProvider() {}

    @Override
    public String scheme() { return SCHEME; }

    /**
     * Starts nothing before the first connection or listener, which decide on the device.
     *
     * @throws lunar.rdma.RdmaUnavailableException if there is no device; the message says why, in one line
     */
    @Override
    public Loops start(String name, LoopOptions options) throws IOException {
        return new IserLoops(name, options, new DeviceChoice(options.device()), false);
    }
}
