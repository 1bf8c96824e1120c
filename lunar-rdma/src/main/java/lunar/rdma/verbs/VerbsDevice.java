package lunar.rdma.verbs;

import lunar.rdma.DeviceInfo;
import lunar.rdma.ProviderException;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;

/**
 * A device of libibverbs.
 *
 * @param context address of its struct ibv_context, which librdmacm has opened
 */
record VerbsDevice(VerbsLibraries libraries, long context, DeviceInfo info)
        implements ProviderDevice {
    @Override
    public ProviderDomain open() throws ProviderException {
        return new VerbsDomain(new NativeDomain(libraries, context, info.name()));
    }
}
