package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests an embedded server: started from a plan, used over the wire, reconfigured, and closed. */
@Timeout(600)
class StorageServerTest {
    private static final String IQN = "iqn.2026-11.org.lunar:embedded";
    private static final List<ServerPlan.Listen> LOOPBACK = List
            .of(ServerPlan.Listen.on("127.0.0.1", 0));

    private static ServerPlan plan(String... uris) {
        return ServerPlan.of(LOOPBACK, List.of(ServerPlan.Target.of(IQN, List.of(uris))));
    }

    private static String uri(StorageServer server, int lun) {
        InetSocketAddress portal = server.portals().getFirst();
        return "iscsi://" + portal.getHostString() + ":" + portal.getPort() + "/" + IQN + "/" + lun;
    }

    private static MemorySegment block(int content) {
        return MemorySegment.ofArray(new byte[512]).fill((byte) content);
    }

    @Test
    void shouldServeWhatThePlanSays() throws Exception {
        try (StorageServer server = StorageServer.start(plan("ram:1MiB", "ram:2MiB"));
                BlockDevice disk = Devices.open(uri(server, 1))) {
            assertThat(server.units()).containsExactly(
                    new ServedUnit(IQN, 0, "ram:1MiB", 1 << 20),
                    new ServedUnit(IQN, 1, "ram:2MiB", 2 << 20));
            assertThat(disk.sizeBytes()).isEqualTo(2 << 20);
            disk.write(3, block(7));
            MemorySegment found = block(0);
            disk.read(3, found);
            assertThat(found.get(ValueLayout.JAVA_BYTE, 511)).isEqualTo((byte) 7);
            assertThat(server.sessionCount()).isEqualTo(1);
        }
    }

    /** Also after one whose start has failed. */
    @Test
    void shouldRecordConnectionsOnceTheServerBeforeItHasStopped(@TempDir Path folder)
            throws Exception {
        var found = new ArrayList<Boolean>();
        var warnings = new ArrayList<String>();
        ServerPlan plan = plan("ram:1MiB").withState(folder).withOpener((uri, records) -> {
            found.add(records.connections().isPresent());
            return DeviceOpener.DEVICES.open(uri, records);
        });
        StorageServer first = StorageServer.start(plan);
        var listener = new ServerListener() {
            @Override
            public void warned(String message, @Nullable IOException cause) {
                warnings.add(message);
                try {
                    first.close();
                } catch (StorageException e) {
                    throw new AssertionError(e);
                }
            }
        };
        StorageServer.start(plan, listener).close();
        assertThat(warnings).singleElement(STRING)
                .contains("is in use by another server: waits");
        assertThatThrownBy(() -> StorageServer.start(plan("file:" + folder + "/none")
                .withState(folder), listener)).isInstanceOf(InvalidPlanException.class);
        StorageServer.start(plan, listener).close();
        assertThat(found).containsExactly(true, true, true);
        assertThat(warnings).hasSize(1);
    }

    @Test
    void shouldKeepSessionsThatAReloadDoesNotConcern() throws Exception {
        try (StorageServer server = StorageServer.start(plan("ram:1MiB"));
                BlockDevice disk = Devices.open(uri(server, 0))) {
            disk.write(0, block(9));
            ServerPlan wider = plan("ram:1MiB", "ram:4MiB");
            ServerChange change = server.reload(wider);
            assertThat(change.unitsBefore()).hasSize(1);
            assertThat(change.units()).hasSize(2);
            assertThat(change.units().getFirst().isSameDevice(change.unitsBefore().getFirst()))
                    .isTrue();
            MemorySegment found = block(0);
            disk.read(0, found);
            assertThat(found.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 9);
            assertThat(server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldChangeNothingIfAPlanCannotBeApplied(@TempDir Path folder) throws Exception {
        try (StorageServer server = StorageServer.start(plan("ram:1MiB"))) {
            assertThatThrownBy(() -> server.reload(plan("ram:1MiB", "file:" + folder + "/none")))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("does not exist");
            var same = new TreeMap<Integer, ServerPlan.Lun>();
            same.put(0, ServerPlan.Lun.of("file:" + folder + "/a?size=1MiB"));
            same.put(1, new ServerPlan.Lun("file:" + folder + "/a", false, false, true, false,
                    Optional.empty()));
            assertThatThrownBy(() -> server.reload(
                    plan().withTargets(List.of(ServerPlan.Target.of(IQN, same)))))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("must be configured identically");
            assertThat(server.units()).hasSize(1);
            try (BlockDevice disk = Devices.open(uri(server, 0))) {
                disk.write(0, block(1));
            }
        }
    }

    /** Of a host with several addresses, which name servers return in turn, until they fail. */
    @Test
    void shouldKeepTheAddressesOfItsPortals() throws Exception {
        var resolved = new ArrayList<String>();
        PortalAddresses none = PortalAddresses.none(host -> {
            if (resolved.size() == 2) {
                throw new UnknownHostException(host);
            }
            resolved.add(host);
            return InetAddress.getByName("127.0.0." + resolved.size());
        });
        ServerPlan plan = plan("ram:1MiB");
        ServerPlan.Listen first = ServerPlan.Listen.on("san.example", 0);
        ServerPlan.Listen second = ServerPlan.Listen.on("other.example", 0);
        try (StorageServer server = StorageServer.start(
                ServerPlan.of(List.of(first), plan.targets()), ServerListener.LOGGING, none,
                ClosingLimits.DEFAULT);
                BlockDevice disk = Devices.open(uri(server, 0))) {
            disk.write(0, block(1));
            List<InetSocketAddress> before = server.portals();
            server.change(new LunRequest.Add(IQN, OptionalInt.empty(),
                    ServerPlan.Lun.of("ram:1MiB")));
            server.reload(ServerPlan.of(List.of(first), plan.targets()));
            assertThat(server.portals()).isEqualTo(before);
            assertThat(resolved).containsExactly("san.example");

            ServerPlan wider = ServerPlan.of(List.of(second, first), plan.targets());
            server.reload(wider);
            assertThat(server.portals()).hasSize(2).endsWith(before.getFirst());
            assertThat(resolved).containsExactly("san.example", "other.example");

            server.change(new LunRequest.Remove(IQN, 1));
            assertThatThrownBy(() -> server.reload(ServerPlan.of(
                    List.of(first, second, ServerPlan.Listen.on("new.example", 0)),
                    plan.targets()))).isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("unknown host 'new.example'");
            server.reload(wider);
            assertThat(server.portals()).hasSize(2).endsWith(before.getFirst());
            disk.write(0, block(2));
            assertThat(server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldRejectTargetsThatOtherMachinesCouldReachWithoutASecret() {
        ServerPlan open = ServerPlan.of(List.of(ServerPlan.Listen.on("0.0.0.0", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of("ram:1MiB"))));
        assertThatThrownBy(() -> StorageServer.start(open))
                .isInstanceOfSatisfying(OpenTargetException.class,
                        e -> assertThat(e.iqn()).isEqualTo(IQN));
    }

    @Test
    void shouldReportAWrongPlanInOneLine() {
        for (ServerPlan wrong : List.of(
                plan().withTargets(List.of(ServerPlan.Target.of("no name", List.of("ram:1MiB")))),
                plan("ram:much"), plan("ram:1MiB").withTargets(List.of(
                        ServerPlan.Target.of(IQN, List.of()),
                        ServerPlan.Target.of(IQN, List.of()))))) {
            assertThatThrownBy(() -> StorageServer.start(wrong))
                    .isInstanceOf(InvalidPlanException.class).message().isNotBlank()
                    .doesNotContain("\n");
        }
    }

    @Test
    void shouldShowNoSecretOfAUri() {
        String uri = "iscsi://user%25geheim@192.0.2.1/" + IQN + "/0";
        assertThat(new ServedUnit(IQN, 0, uri, 1).toString()).doesNotContain("geheim");
        assertThat(ServerPlan.Lun.of(uri).toString()).doesNotContain("geheim");
    }

    @Test
    void shouldContinueThoughItsListenerThrows(@TempDir Path folder) throws Exception {
        String file = "file:" + folder + "/disk?size=1MiB";
        try (StorageServer server = StorageServer.start(plan(file), new ServerListener() {
            @Override
            public void warned(String message, @Nullable IOException cause) {
                throw new IllegalStateException(message);
            }
        })) {
            ServerChange change = server.reload(plan(file, "ram:1MiB").withState(folder));
            assertThat(change.units()).hasSize(2);
        }
    }

    @Test
    void shouldReportThatAPortalIsInUse() throws Exception {
        try (StorageServer server = StorageServer.start(plan("ram:1MiB"))) {
            int port = server.portals().getFirst().getPort();
            assertThatThrownBy(() -> StorageServer.start(
                    ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", port)), List.of())))
                    .isInstanceOf(BindException.class);
        }
    }

    @Test
    void shouldEndThreadsThatAwaitItsTermination() throws Exception {
        StorageServer server = StorageServer.start(plan("ram:1MiB"));
        var ended = new AtomicInteger();
        Thread waiting = Thread.ofVirtual().start(() -> {
            try {
                server.awaitTermination();
                ended.incrementAndGet();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        });
        server.close();
        server.close();
        waiting.join();
        assertThat(ended).hasValue(1);
        assertThat(server.reload(plan("ram:1MiB")).portals()).isEmpty();
    }

    /** Counts how often devices are closed, and fails to flush some. */
    private static final class Opened extends ForwardingDevice {
        private final AtomicInteger open;
        private final boolean isBroken;

        Opened(BlockDevice below, AtomicInteger open, boolean isBroken) {
            super(below);
            this.open = open;
            this.isBroken = isBroken;
            open.incrementAndGet();
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void flush() throws StorageException {
            if (isBroken) {
                throw new DeviceGoneException("cannot be flushed");
            }
            super.flush();
        }

        @Override
        public void close() throws StorageException {
            open.decrementAndGet();
            super.close();
        }
    }

    @Test
    void shouldOpenDevicesByThePlansOpenerAndCloseAllOfThem() throws Exception {
        var open = new AtomicInteger();
        var uris = new ArrayList<String>();
        ServerPlan plan = plan("ram:1MiB", "ram:2MiB", "ram:3MiB");
        plan = plan.withOpener((uri, records) -> {
            uris.add(uri);
            return new Opened(Devices.open(uri, records), open, uri.equals("ram:2MiB"));
        });
        StorageServer server = StorageServer.start(plan);
        assertThat(open).hasValue(3);
        assertThatThrownBy(server::close).isInstanceOf(StorageException.class)
                .hasMessageContaining("cannot be flushed");
        assertThat(open).hasValue(0);
        assertThat(uris).containsExactly("ram:1MiB", "ram:2MiB", "ram:3MiB");
        server.awaitTermination();
    }
}
