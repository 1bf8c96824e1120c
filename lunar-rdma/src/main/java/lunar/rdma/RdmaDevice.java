package lunar.rdma;

import lunar.rdma.spi.ProviderDevice;

/**
 * An RDMA device that can be opened; {@link Rdma} lists the devices of this machine. Immutable; holds no native
 * resources.
 */
public final class RdmaDevice {
    private final ProviderDevice provider;
    private final DeviceInfo info;

    /** Creates a device from a provider that {@link Rdma} does not list, such as a fault injector in tests. */
    public RdmaDevice(ProviderDevice provider) {
        this.provider = provider;
        info = provider.info();
    }

    public DeviceInfo info() { return info; }

    /** Opens the device with a protection domain of its own. The caller closes the domain. */
    public ProtectionDomain open() throws RdmaException {
        return new ProtectionDomain(provider.open(), info);
    }

    /** Returns the provider's implementation of the device, for a provider that wraps another one. */
    public ProviderDevice provider() {
        return provider;
    }

    @Override
    public String toString() { return info.name(); }
}
