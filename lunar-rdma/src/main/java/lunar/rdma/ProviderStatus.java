package lunar.rdma;

import java.util.List;
import java.util.Optional;

/**
 * Whether a provider works here, and its devices.
 *
 * @param name of the provider, such as {@code verbs}
 * @param devices may be empty also if the provider works
 * @param unavailable why it does not work, in one line; empty if it does
 */
public record ProviderStatus(String name, List<RdmaDevice> devices, Optional<String> unavailable) {
    public ProviderStatus {
        devices = List.copyOf(devices);
    }
}
