package lunar.iser;

import java.io.IOException;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;

/** Provides iSCSI connections over RDMA (iSER, RFC 7145), for the scheme {@link #SCHEME}. Thread-safe. */
public final class IserTransportProvider implements TransportProvider {
    /** URI scheme of connections over iSER. */
    public static final String SCHEME = Transports.ISER;

    /** Called by {@link java.util.ServiceLoader}. */
    public IserTransportProvider() {}

    @Override
    public String scheme() { return SCHEME; }

    /**
     * Opens no device and starts no thread. The first connection or listener does so, since its address selects the
     * device.
     *
     * @throws lunar.rdma.RdmaUnavailableException if there is no RDMA device; the message gives the reason, in one line
     */
    @Override
    public Loops start(String name, LoopOptions options) throws IOException {
        return new IserLoops(name, options, new DeviceChoice(options.device()), false);
    }
}
