package lunar.rdma;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import lunar.rdma.spi.RdmaProvider;

/**
 * Lists the RDMA devices that are there. Nothing fails where a library is missing: its provider is listed with the
 * reason.
 */
public final class Rdma {
    private Rdma() {}

    /** Asks all providers for their devices, in the order of preference: hardware first. */
    public static List<ProviderStatus> providers() {
        var found = new ArrayList<ProviderStatus>();
        for (RdmaProvider provider : ServiceLoader.load(RdmaProvider.class,
                RdmaProvider.class.getClassLoader())) {
            found.add(status(provider));
        }
        return List.copyOf(found);
    }

    private static ProviderStatus status(RdmaProvider provider) {
        try {
            return new ProviderStatus(provider.name(),
                    provider.devices().stream().map(RdmaDevice::new).toList(),
                    Optional.empty());
        } catch (RdmaUnavailableException e) {
            return new ProviderStatus(provider.name(), List.of(),
                    Optional.of(String.valueOf(e.getMessage())));
        }
    }

    /** All devices of all providers that work here. */
    public static List<RdmaDevice> devices() {
        return providers().stream().flatMap(provider -> provider.devices().stream()).toList();
    }

    /**
     * Finds a device.
     *
     * @param name whole, such as {@code libfabric:tcp:lo}, or the first parts of it, such as {@code libfabric:tcp}
     * @throws RdmaUnavailableException if there is none; the message tells those that are there, or why there is none
     */
    public static RdmaDevice device(String name) throws RdmaUnavailableException {
        List<ProviderStatus> providers = providers();
        for (ProviderStatus provider : providers) {
            for (RdmaDevice device : provider.devices()) {
                if (device.info().name().equals(name)
                        || device.info().name().startsWith(name + ":")) {
                    return device;
                }
            }
        }
        var there = new StringBuilder();
        for (ProviderStatus provider : providers) {
            there.append(there.isEmpty() ? "" : "; ").append(provider.name()).append(": ");
            there.append(provider.unavailable()
                    .orElseGet(() -> provider.devices().isEmpty()
                            ? "no device"
                            : String.join(", ",
                                    provider.devices().stream().map(RdmaDevice::toString)
                                            .toList())));
        }
        throw new RdmaUnavailableException("no RDMA device '" + name + "' (" + there + ")");
    }
}
