package lunar.rdma;

import java.net.InetAddress;
import java.util.List;
import java.util.Set;

/**
 * Attributes of a device.
 *
 * @param name unique, of parts from the general to the special, such as {@code libfabric:tcp:lo} or
 *        {@code verbs:mlx5_0}
 * @param description for people: what the device is
 * @param addresses local addresses that can be listened on; empty if the device has none of its own
 */
public record DeviceInfo(String name, String description, List<InetAddress> addresses,
        Set<Capability> capabilities, DeviceLimits limits) {
    public DeviceInfo {
        addresses = List.copyOf(addresses);
        capabilities = Set.copyOf(capabilities);
    }
}
