package lunar.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.initiator.Initiator;
import lunar.initiator.LunProvider;
import lunar.iscsi.DiscoveredTarget;
import lunar.iscsi.TargetAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar discover}: which targets a portal has, and where they are. */
@Command(name = "discover",
        description = "Ask a portal for its targets: one line with name and portal for each.",
        footer = {
                "", "Examples:", "  lunar discover 127.0.0.1",
                "  lunar discover 10.0.0.5:3260 --chap backup:@secret.txt --json"})
final class DiscoverCommand extends DeviceCommand {
    @Parameters(paramLabel = "HOST[:PORT]", converter = Portal.Converter.class,
            description = "The portal. The port is 3260 if none is given.")
    private Portal portal = Portal.DEFAULT;

    @Option(names = "--chap", paramLabel = "USER:@FILE",
            description = "Who we are; the file holds the secret.")
    private @Nullable String chap;

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    DiscoverCommand(Console console) { super(console); }

    @Override
    int execute() throws Exception {
        if (portal.port() == 0) {
            throw wrongUsage("port 0 cannot be connected to; write for example " + portal.host()
                    + ":3260");
        }
        List<DiscoveredTarget> targets = targets();
        if (json) {
            console().out().println(Json.text(Map.of("targets", tree(targets))));
            return 0;
        }
        for (DiscoveredTarget target : targets) {
            for (TargetAddress address : target.addresses()) {
                console().out().println(target.name() + " " + portal(address)
                        + group(address));
            }
        }
        if (targets.isEmpty()) {
            console().remark(portal + " has no targets for us");
        }
        return 0;
    }

    private List<DiscoveredTarget> targets() throws IOException, Failure {
        try (var initiator = Initiator.create(LunProvider.DEFAULT_INITIATOR_NAME)) {
            return chap == null
                    ? initiator.discover(portal.toString())
                    : initiator.discover(portal.toString(),
                            new Credentials(console()).read("--chap", chap));
        }
    }

    private static List<Object> tree(List<DiscoveredTarget> targets) {
        var list = new ArrayList<>();
        for (DiscoveredTarget target : targets) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("iqn", target.name());
            entry.put("portals", target.addresses().stream().map(DiscoverCommand::tree).toList());
            list.add(entry);
        }
        return list;
    }

    private static Map<String, Object> tree(TargetAddress address) {
        var entry = new LinkedHashMap<String, Object>();
        entry.put("portal", portal(address));
        address.portalGroupTag().ifPresent(tag -> entry.put("group", tag));
        return entry;
    }

    private static String portal(TargetAddress address) {
        return new Portal(address.host(), address.port()).toString();
    }

    private static String group(TargetAddress address) {
        return address.portalGroupTag().isPresent()
                ? " group " + address.portalGroupTag().getAsInt()
                : "";
    }
}
