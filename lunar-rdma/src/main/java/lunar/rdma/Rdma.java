package lunar.rdma;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import lunar.rdma.spi.RdmaProvider;

/**
 * Lists the RDMA devices of this machine. A missing library is not an error: its provider is listed with the reason why
 * it is unavailable. Any thread may call the methods.
 */
public final class Rdma {
    private Rdma() {}

    /** Returns all providers with their devices, in order of preference: hardware first. */
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

    /** Returns the devices of all providers that are available, in order of preference. */
    public static List<RdmaDevice> devices() {
        return providers().stream().flatMap(provider -> provider.devices().stream()).toList();
    }

    /**
     * Returns the first device with a name.
     *
     * @param name the full name, such as {@code libfabric:tcp:lo}, or its first parts, such as {@code libfabric:tcp}
     * @throws RdmaUnavailableException if there is none; the message lists the devices that exist, or says why there
     *         are none
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
