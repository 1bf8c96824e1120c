package lunar.rdma.verbs;

import java.util.List;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.RdmaProvider;

/**
 * Devices of libibverbs with connections by librdmacm: InfiniBand, RoCE and iWARP adapters, and the kernel's soft-RoCE.
 * Needs 64-bit Linux, both libraries, and access to {@code /dev/infiniband}.
 */
public final class VerbsProvider implements RdmaProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public VerbsProvider() {}

    @Override
    public String name() { return "verbs"; }

    @Override
    public List<ProviderDevice> devices() throws RdmaUnavailableException {
        return DeviceList.of(VerbsLibraries.load());
    }
}
