package lunar.cli.rdma;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import lunar.rdma.DeviceInfo;
import lunar.rdma.ProviderStatus;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lunar rdma devices}: lists RDMA devices, and why a provider is unavailable. */
@Command(name = "devices", description = "List RDMA devices, and why a provider is unavailable.",
        footer = {"", "Examples:", "  lunar rdma devices", "  lunar rdma devices --json"})
final class RdmaDevicesCommand extends DeviceCommand {
    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    RdmaDevicesCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Failure {
        logErrorsOnly();
        List<ProviderStatus> providers = Rdma.providers();
        if (json) {
            console().out().println(Json.text(Map.of("providers",
                    providers.stream().map(RdmaDevicesCommand::tree).toList())));
        } else {
            providers.forEach(this::print);
        }
        RdmaOptions.requireDevice(providers);
        return 0;
    }

    private void print(ProviderStatus provider) {
        for (RdmaDevice device : provider.devices()) {
            DeviceInfo info = device.info();
            console().out().println(String.format(Locale.ROOT, "%-16s %s%s", info.name(),
                    info.description(), addresses(info)));
        }
        if (provider.devices().isEmpty() && provider.unavailable().isEmpty()) {
            console().remark(provider.name() + ": no device");
        }
        provider.unavailable()
                .ifPresent(reason -> console().remark(provider.name() + ": " + reason));
    }

    private static String addresses(DeviceInfo info) {
        return info.addresses().isEmpty()
                ? ""
                : "; " + String.join(", ", info.addresses().stream()
                        .map(InetAddress::getHostAddress).toList());
    }

    private static Map<String, Object> tree(ProviderStatus provider) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("name", provider.name());
        provider.unavailable().ifPresent(reason -> tree.put("unavailable", reason));
        tree.put("devices", provider.devices().stream().map(device -> tree(device.info()))
                .toList());
        return tree;
    }

    private static Map<String, Object> tree(DeviceInfo info) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("name", info.name());
        tree.put("description", info.description());
        tree.put("addresses", info.addresses().stream().map(InetAddress::getHostAddress).toList());
        tree.put("capabilities", info.capabilities().stream()
                .map(each -> each.name().toLowerCase(Locale.ROOT).replace('_', '-')).sorted()
                .toList());
        tree.put("maxMessageBytes", info.limits().maxMessageBytes());
        tree.put("maxInlineBytes", info.limits().maxInlineBytes());
        tree.put("maxSendDepth", info.limits().maxSendDepth());
        tree.put("maxReceiveDepth", info.limits().maxReceiveDepth());
        tree.put("maxCompletionDepth", info.limits().maxCompletionDepth());
        return tree;
    }
}
