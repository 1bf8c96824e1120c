package lunar.cli.rdma;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import lunar.cli.command.Failure;
import lunar.cli.config.Portal;
import lunar.rdma.ProviderStatus;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaUnavailableException;
import picocli.CommandLine.Option;

/** Options of the commands that use an RDMA device. */
final class RdmaOptions {
    /** Default port of {@code rdma respond}. */
    static final int PORT = 3261;

    @Option(names = "--device", paramLabel = "NAME",
            description = "RDMA device. Default: the first one of 'lunar rdma devices'.")
    private String name = "";

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    boolean isJson() { return json; }

    /** Returns the device of {@code --device}, or the first one. */
    RdmaDevice device() throws Failure {
        if (!name.isEmpty()) {
            try {
                return Rdma.device(name);
            } catch (RdmaUnavailableException e) {
                throw new Failure(e.getMessage() + "; 'lunar rdma devices' lists devices", e);
            }
        }
        List<ProviderStatus> providers = Rdma.providers();
        requireDevice(providers);
        return providers.stream().flatMap(provider -> provider.devices().stream()).findFirst()
                .orElseThrow();
    }

    /** Fails with a one-line reason if there is no device at all. */
    static void requireDevice(List<ProviderStatus> providers) throws Failure {
        if (providers.stream().allMatch(provider -> provider.devices().isEmpty())) {
            List<String> reasons = providers.stream().map(provider -> provider.name() + ": "
                    + provider.unavailable().orElse("no device")).toList();
            throw new Failure("no RDMA device (" + String.join("; ", reasons)
                    + "); install libfabric1 for libfabric:tcp, which needs no adapter");
        }
    }

    /** Returns a local address of the device, with port 0, for a responder in this process. */
    static InetSocketAddress local(RdmaDevice device) {
        List<InetAddress> addresses = device.info().addresses();
        return new InetSocketAddress(
                addresses.stream().filter(InetAddress::isLoopbackAddress).findFirst()
                        .orElse(addresses.isEmpty()
                                ? InetAddress.getLoopbackAddress()
                                : addresses.getFirst()),
                0);
    }

    static InetSocketAddress parse(String text) throws Failure {
        try {
            return Portal.parse(text, PORT).resolve();
        } catch (IllegalArgumentException e) {
            throw new Failure(String.valueOf(e.getMessage()), e);
        }
    }
}
