package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.Registration;
import lunar.isns.StorageNode;
import lunar.target.Absence;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests registration of a server's targets and portals at an iSNS server. */
@Timeout(600)
class IsnsEntryTest {
    private static final InetAddress LOOPBACK = ip("127.0.0.1");
    private static final StorageNode.Portal PUBLIC = new StorageNode.Portal(ip("192.0.2.7"), 3261);

    private BlockDevice device;

    @BeforeEach
    void open() throws IOException { device = Devices.open("ram:1MiB"); }

    @AfterEach
    void close() throws IOException { device.close(); }

    private static InetAddress ip(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String name(String end) { return "iqn.2026-11.org.lunar:" + end; }

    private TargetSpec target(String end, Integer... groups) {
        return TargetSpec.of(name(end)).withLun(0, device).withGroups(List.of(groups));
    }

    private static PortalSpec portal(String host, int group) {
        return PortalSpec.of(new InetSocketAddress(ip(host), 0)).withGroup(group);
    }

    private static Map<String, Map<StorageNode.Portal, Integer>> portals(Registration of) {
        return of.nodes().stream()
                .collect(Collectors.toMap(StorageNode::name, StorageNode::portals));
    }

    private static StorageNode.Portal at(TargetServer server, int portal, InetAddress address) {
        return new StorageNode.Portal(address, server.portals().get(portal).getPort());
    }

    @Test
    void shouldReportThePortalsThatOtherMachinesReach() throws Exception {
        InetAddress reached = ip("192.0.2.1");
        try (var server = TargetServer.builder().portal(portal("0.0.0.0", 1))
                .portal(portal("127.0.0.1", 2).withAdvertised(
                        new TargetAddress("192.0.2.7", 3261, OptionalInt.empty())))
                .portal(portal("127.0.0.1", 3)).target(target("everywhere", 1, 2, 3))
                .target(target("public", 2)).target(target("private", 3))
                .target(target("removed", 2).withAbsence(new Absence.Removed())).start()) {
            Registration told = new IsnsEntry(server).registration(reached);
            assertThat(portals(told)).containsExactlyInAnyOrderEntriesOf(
                    Map.of(name("everywhere"), Map.of(at(server, 0, reached), 1, PUBLIC, 2),
                            name("public"), Map.of(PUBLIC, 2)));
            assertThat(told.entity()).endsWith(":" + server.portals().getFirst().getPort())
                    .doesNotStartWith("localhost");
        }
    }

    @Test
    void shouldRegisterLoopbackPortalsAtALocalNameServer()
            throws Exception {
        try (var server = TargetServer.builder().portal(portal("127.0.0.1", 1))
                .portal(portal("127.0.0.1", 2)).target(target("a", 1)).target(target("b", 1, 2))
                .start()) {
            Registration told = new IsnsEntry(server).registration(LOOPBACK);
            assertThat(portals(told)).containsExactlyInAnyOrderEntriesOf(Map.of(
                    name("a"), Map.of(at(server, 0, LOOPBACK), 1),
                    name("b"), Map.of(at(server, 0, LOOPBACK), 1, at(server, 1, LOOPBACK), 2)));
        }
    }

    @Test
    void shouldRegisterTheSameEntityAndCurrentTargets() throws Exception {
        try (var server = TargetServer.builder().portal(portal("127.0.0.1", 1))
                .target(target("a")).start()) {
            var entry = new IsnsEntry(server);
            String entity = entry.registration(LOOPBACK).entity();
            server.update(target("b").withAlias("the second one"));
            server.remove(name("a"));
            Registration told = entry.registration(LOOPBACK);
            assertThat(told.entity()).isEqualTo(entity);
            assertThat(told.nodes()).singleElement().satisfies(node -> {
                assertThat(node.name()).isEqualTo(name("b"));
                assertThat(node.alias()).isEqualTo("the second one");
            });
            server.remove(name("b"));
            assertThat(entry.registration(LOOPBACK).nodes()).isEmpty();
        }
    }
}
