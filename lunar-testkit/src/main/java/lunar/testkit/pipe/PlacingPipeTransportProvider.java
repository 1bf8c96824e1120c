package lunar.testkit.pipe;

import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;

/**
 * Provides connections within this process, for the scheme {@link #SCHEME}, which move the data of commands between the
 * memory of both ends. An access to memory that its owner has withdrawn ends the connection, as with RDMA.
 */
public final class PlacingPipeTransportProvider implements TransportProvider {
    /** Scheme of these connections. */
    public static final String SCHEME = "placing-pipe";

    /** Called by {@link java.util.ServiceLoader}. */
    public PlacingPipeTransportProvider() {}

    @Override
    public String scheme() { return SCHEME; }

    @Override
    public Loops start(String name, LoopOptions options) {
        return new PipeLoops(SCHEME, name, options, true);
    }
}
