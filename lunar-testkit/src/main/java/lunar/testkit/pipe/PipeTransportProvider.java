package lunar.testkit.pipe;

import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;

/** Provides connections within this process, for the scheme {@link #SCHEME}, which transfer all data in PDUs. */
public final class PipeTransportProvider implements TransportProvider {
    /** Scheme of these connections. */
    public static final String SCHEME = "pipe";

    /** Called by {@link java.util.ServiceLoader}. */
    public PipeTransportProvider() {}

    @Override
    public String scheme() { return SCHEME; }

    @Override
    public Loops start(String name, LoopOptions options) {
        return new PipeLoops(SCHEME, name, options, false);
    }
}
