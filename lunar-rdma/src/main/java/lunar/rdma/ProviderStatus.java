package lunar.rdma;

import java.util.List;
import java.util.Optional;

/**
 * Describes whether a provider is available, and its devices.
 *
 * @param name name of the provider, such as {@code verbs}
 * @param devices devices of the provider; may be empty even if the provider is available
 * @param unavailable the reason why the provider is unavailable, in one line; empty if it is available
 */
public record ProviderStatus(String name, List<RdmaDevice> devices, Optional<String> unavailable) {
    public ProviderStatus {
        devices = List.copyOf(devices);
    }
}
