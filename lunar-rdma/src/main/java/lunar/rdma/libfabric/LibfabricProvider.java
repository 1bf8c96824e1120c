package lunar.rdma.libfabric;

import java.util.ArrayList;
import java.util.List;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.RdmaProvider;

/**
 * Devices of libfabric: {@code libfabric:tcp}, which runs on every machine, and {@code libfabric:shm}, between
 * processes of one.
 */
public final class LibfabricProvider implements RdmaProvider {
    /** Found by {@link java.util.ServiceLoader}. */
    public LibfabricProvider() {}

    @Override
    public String name() { return "libfabric"; }

    @Override
    public List<ProviderDevice> devices() throws RdmaUnavailableException {
        var devices = new ArrayList<ProviderDevice>();
        try {
            MsgDevice.find().ifPresent(devices::add);
            ShmDevice.find().ifPresent(devices::add);
        } catch (ProviderException e) {
            throw new RdmaUnavailableException("libfabric: " + e.getMessage());
        }
        return devices;
    }
}
