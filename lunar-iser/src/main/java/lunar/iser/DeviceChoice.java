package lunar.iser;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import lunar.rdma.Capability;
import lunar.rdma.ProviderStatus;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaUnavailableException;

/**
 * Selects the RDMA device for an address: the configured device, or else the first one that owns the local address from
 * which the remote address is reached, hardware first. A device that only reaches this machine is selected only if it
 * is configured. Thread-safe.
 */
final class DeviceChoice {
    /** Port for finding the local address of a route (discard); nothing is sent to it. */
    private static final int ANY_PORT = 9;

    private final Optional<String> named;
    private final List<RdmaDevice> devices;

    /**
     * @param named full name of the configured device, or its first parts; empty to select by address
     * @throws RdmaUnavailableException if no device has that name, or there is no device at all
     */
    DeviceChoice(Optional<String> named) throws RdmaUnavailableException {
        this(named, named.isPresent() ? List.of(Rdma.device(named.get())) : all());
    }

    /** Selects from the given devices, which are in order of preference. */
    DeviceChoice(Optional<String> named, List<RdmaDevice> devices) {
        this.named = named;
        this.devices = List.copyOf(devices);
    }

    private static List<RdmaDevice> all() throws RdmaUnavailableException {
        List<ProviderStatus> providers = Rdma.providers();
        List<RdmaDevice> all = new ArrayList<>();
        providers.forEach(provider -> all.addAll(provider.devices()));
        all.removeIf(
                device -> device.info().capabilities().contains(Capability.SAME_MACHINE_ONLY));
        if (all.isEmpty()) {
            var why = new StringJoiner("; ", "no RDMA device (",
                    "); iSER needs libfabric1, or rdma-core and an adapter");
            providers.forEach(provider -> why.add(provider.name() + ": "
                    + provider.unavailable().orElse("no device")));
            throw new RdmaUnavailableException(why.toString());
        }
        return all;
    }

    /** Returns the device to listen with on a local address; the first device for the wildcard address. */
    RdmaDevice forLocal(InetAddress address) throws IOException {
        if (named.isPresent() || address.isAnyLocalAddress()) {
            return devices.getFirst();
        }
        for (RdmaDevice device : devices) {
            if (device.info().addresses().contains(address)) {
                return device;
            }
        }
        throw new RdmaUnavailableException(
                "no RDMA device has the address " + address.getHostAddress() + " (there are "
                        + devices + ")");
    }

    /** Returns the device to connect with to a remote address. */
    RdmaDevice forRemote(InetAddress address) throws IOException {
        return named.isPresent() ? devices.getFirst() : forLocal(localAddress(address));
    }

    /** Returns the local address from which a remote address is reached. */
    static InetAddress localAddress(InetAddress address) throws IOException {
        try (var socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(address, ANY_PORT));
            return socket.getLocalAddress();
        }
    }
}
