package lunar.cli.rdma;

import java.net.InetSocketAddress;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.EndSignal;
import lunar.cli.config.Portal;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaDevice;
import lunar.rdma.probe.Responder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code lunar rdma respond}: answers ping and bench of other processes. */
@Command(name = "respond",
        description = "Answer 'lunar rdma ping' and 'lunar rdma bench' of other processes, until SIGTERM.",
        footer = {
                "", "Serves one connection at a time. Any peer that reaches the port can connect.",
                "",
                "Example:",
                "  lunar rdma respond 127.0.0.1:3261 --device libfabric:shm & lunar rdma ping "
                        + "127.0.0.1:3261 --device libfabric:shm"})
final class RdmaRespondCommand extends DeviceCommand {
    @Parameters(arity = "0..1", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:3261",
            description = "Address to listen on. Default: ${DEFAULT-VALUE}.")
    private String address = "";

    @Mixin
    private final RdmaOptions options = new RdmaOptions();

    RdmaRespondCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logErrorsOnly();
        InetSocketAddress listen = RdmaOptions.parse(address);
        RdmaDevice device = options.device();
        try (ProtectionDomain domain = device.open();
                var responder = new Responder(domain, listen)) {
            String at = Portal.text(responder.address());
            tell(options.isJson(), Map.of("device", device.info().name(), "address", at),
                    "responding on " + at + ", " + device.info().name());
            EndSignal.closing(console(), responder, domain).await();
        }
        return 0;
    }
}
