package lunar.rdma.spi;

import lunar.rdma.DeviceInfo;
import lunar.rdma.RdmaException;

/** An RDMA device that can be opened. Immutable; holds no native resources. */
public interface ProviderDevice {
    DeviceInfo info();

    /** Opens the device, with a protection domain of its own. */
    ProviderDomain open() throws RdmaException;
}
