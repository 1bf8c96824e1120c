package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.posix.SocketAddresses;
import lunar.rdma.spi.ProviderDevice;

/** Lists devices and the local addresses that lead to them. */
final class DeviceList {
    private final VerbsLibraries libraries;

    private DeviceList(VerbsLibraries libraries) { this.libraries = libraries; }

    /**
     * Lists all devices.
     *
     * @throws RdmaUnavailableException if there are devices that cannot be used
     */
    static List<ProviderDevice> of(VerbsLibraries libraries) throws RdmaUnavailableException {
        return new DeviceList(libraries).list();
    }

    private List<ProviderDevice> list() throws RdmaUnavailableException {
        try {
            if (!hasDevices()) {
                return List.of();
            }
            VerbsLibraries.checkConnectionManager();
            List<Long> contexts = contexts();
            Map<Long, List<InetAddress>> addresses = localAddresses();
            List<ProviderDevice> devices = new ArrayList<>();
            for (long context : contexts) {
                devices.add(new VerbsDevice(libraries, context,
                        DeviceAttributes.describe(libraries.verbs(), context,
                                addresses.getOrDefault(context, List.of()))));
            }
            return devices;
        } catch (ProviderException e) {
            throw new RdmaUnavailableException(String.valueOf(e.getMessage()));
        }
    }

    private boolean hasDevices() throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            long list = libraries.verbs().deviceList(count.address());
            libraries.verbs().freeDeviceList(list);
            return count.get(JAVA_INT, 0) > 0;
        }
    }

    /** The contexts by which librdmacm knows the devices. They stay open as long as the process. */
    private List<Long> contexts() throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            long array = libraries.cm().devices(count.address());
            int size = count.get(JAVA_INT, 0);
            MemorySegment contexts = NativeLibrary.at(array, size * ADDRESS.byteSize());
            List<Long> all = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                all.add(contexts.getAtIndex(JAVA_LONG, i));
            }
            libraries.cm().freeDevices(array);
            return all;
        }
    }

    /** Local addresses by the context of their device: it is known once an id is bound to the address. */
    private Map<Long, List<InetAddress>> localAddresses() throws ProviderException {
        Map<Long, List<InetAddress>> byContext = new HashMap<>();
        CmCalls cm = libraries.cm();
        long channel = cm.createChannel();
        try {
            for (InetAddress address : interfaceAddresses()) {
                long context = contextOf(channel, address);
                if (context != 0) {
                    byContext.computeIfAbsent(context, _ -> new ArrayList<>()).add(address);
                }
            }
        } finally {
            cm.destroyChannel(channel);
        }
        return byContext;
    }

    private long contextOf(long channel, InetAddress address) throws ProviderException {
        CmCalls cm = libraries.cm();
        long id = CmId.create(cm, channel);
        try (Arena arena = Arena.ofConfined()) {
            cm.bind(id, SocketAddresses.write(new InetSocketAddress(address, 0), arena).address());
            return CmId.context(id);
        } catch (ProviderException _) {
            return 0; // not an address of an RDMA device
        } finally {
            cm.destroyId(id);
        }
    }

    private static List<InetAddress> interfaceAddresses() {
        try {
            return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                    .toList();
        } catch (SocketException _) {
            return List.of(); // no interface at all
        }
    }
}
