package lunar.rdma;

import java.net.InetAddress;
import java.util.List;
import java.util.Set;

/**
 * Describes a device: its name, addresses, optional features and limits.
 *
 * @param name unique name; its parts go from the general to the specific, such as {@code libfabric:tcp:lo} or
 *        {@code verbs:mlx5_0}
 * @param description human-readable description
 * @param addresses local addresses that the device can listen on; empty if it has none of its own
 * @param capabilities optional features
 * @param limits limits of the device and of its driver
 */
public record DeviceInfo(String name, String description, List<InetAddress> addresses,
        Set<Capability> capabilities, DeviceLimits limits) {
    public DeviceInfo {
        addresses = List.copyOf(addresses);
        capabilities = Set.copyOf(capabilities);
    }
}
