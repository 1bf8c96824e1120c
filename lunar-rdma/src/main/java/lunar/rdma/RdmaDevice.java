package lunar.rdma;

import lunar.rdma.spi.ProviderDevice;

/** A device that can be opened; {@link Rdma} lists those that are there. Holds no native resources. */
public final class RdmaDevice {
    private final ProviderDevice provider;
    private final DeviceInfo info;

    /** Makes a device of a provider that {@link Rdma} does not know, such as one that injects faults in tests. */
    public RdmaDevice(ProviderDevice provider) {
        this.provider = provider;
        info = provider.info();
    }

    public DeviceInfo info() { return info; }

    /** Opens the device. The caller closes it. */
    public ProtectionDomain open() throws RdmaException {
        return new ProtectionDomain(provider.open(), info);
    }

    /** The provider's side of the device, for a provider that wraps another. */
    public ProviderDevice provider() {
        return provider;
    }

    @Override
    public String toString() { return info.name(); }
}
