package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how a server closes devices that are removed, and all of them when it stops, if one fails or hangs. */
@Timeout(600)
class ClosingDevicesTest {
    private static final String IQN = "iqn.2026-11.org.lunar:closing";
    private static final Duration LONG = Duration.ofMinutes(4);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final ClosingLimits PATIENT = new ClosingLimits(LONG, LONG, LONG, LONG);
    private static final HookedDevice.Hook NOTHING = () -> {};

    /** Opens a device of the test. */
    private interface Opening {
        HookedDevice open() throws StorageException;
    }

    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, Opening> openings = new LinkedHashMap<>();
    /** The devices by their URIs, as last opened. */
    private final Map<String, HookedDevice> opened = new LinkedHashMap<>();

    private ServerPlan plan(String... uris) {
        return ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of(uris)))).withOpener((uri, _) -> {
                    HookedDevice device = Objects.requireNonNull(openings.get(uri)).open();
                    opened.put(uri, device);
                    return device;
                });
    }

    private StorageServer start(ClosingLimits limits, String... uris) throws Exception {
        return StorageServer.start(plan(uris), new ServerListener() {
            @Override
            public void warned(String message, @Nullable IOException cause) {
                warnings.add(cause == null ? message : message + ": " + cause.getMessage());
            }
        }, PortalAddresses.NONE, limits);
    }

    private void device(String uri, HookedDevice.Hook flush, HookedDevice.Hook close) {
        openings.put(uri, () -> HookedDevice.of(flush, close));
    }

    /** A device that waits for a path without limit: its close alone ends its flush. */
    private void stuckDevice(String uri) {
        openings.put(uri, () -> {
            var device = new HookedDevice[1];
            device[0] = HookedDevice.of(() -> {
                HookedDevice.await(device[0].closing);
                throw new DeviceGoneException("closed");
            }, NOTHING);
            return device[0];
        });
    }

    private HookedDevice opened(String uri) { return Objects.requireNonNull(opened.get(uri)); }

    private static void write(StorageServer server) throws IOException {
        int port = server.portals().getFirst().getPort();
        try (BlockDevice disk = Devices.open("iscsi://127.0.0.1:" + port + "/" + IQN + "/0")) {
            disk.write(0, MemorySegment.ofArray(new byte[512]));
        }
    }

    private void twoPortals() {
        UUID uuid = UUID.randomUUID();
        for (String uri : List.of("iscsi://10.0.0.1/iqn.a/0", "iscsi://10.0.0.2/iqn.a/0")) {
            openings.put(uri, () -> new HookedDevice(uuid, NOTHING, NOTHING));
        }
    }

    @Test
    void shouldRefuseAnotherUriOfADiskThatIsServed() throws Exception {
        twoPortals();
        try (StorageServer server = start(PATIENT, "iscsi://10.0.0.1/iqn.a/0")) {
            HookedDevice first = opened("iscsi://10.0.0.1/iqn.a/0");
            assertThatThrownBy(() -> server.reload(plan("iscsi://10.0.0.2/iqn.a/0")))
                    .isInstanceOf(InvalidPlanException.class).hasMessageContainingAll(
                            "iscsi://10.0.0.2/iqn.a/0 has the identity ",
                            " of iscsi://10.0.0.1/iqn.a/0, which is served now: remove that in one"
                                    + " reload and add this in the next");
            assertThat(server.units()).extracting(ServedUnit::uri)
                    .containsExactly("iscsi://10.0.0.1/iqn.a/0");
            HookedDevice.await(opened("iscsi://10.0.0.2/iqn.a/0").closed);
            assertThat(first.closing.getCount()).isEqualTo(1);
            write(server);

            server.reload(plan("iscsi://10.0.0.1/iqn.a/0"));
            server.reload(plan());
            server.reload(plan("iscsi://10.0.0.2/iqn.a/0"));
            assertThat(first.closed.getCount()).isZero();
            write(server);
        }
        assertThat(warnings).isEmpty();
    }

    @Test
    void shouldRefuseAnotherUriOfADiskThatIsBeingClosed() throws Exception {
        UUID uuid = UUID.randomUUID();
        var end = new CountDownLatch(1);
        openings.put("iscsi://10.0.0.1/iqn.a/0",
                () -> new HookedDevice(uuid, () -> HookedDevice.await(end), NOTHING));
        openings.put("iscsi://10.0.0.2/iqn.a/0", () -> new HookedDevice(uuid, NOTHING, NOTHING));
        try (StorageServer server = start(new ClosingLimits(LONG, SHORT, SHORT, LONG),
                "iscsi://10.0.0.1/iqn.a/0")) {
            server.reload(plan());
            assertThatThrownBy(() -> server.reload(plan("iscsi://10.0.0.2/iqn.a/0")))
                    .isInstanceOf(InvalidPlanException.class).hasMessageContaining(
                            "of iscsi://10.0.0.1/iqn.a/0, which was removed and is still being"
                                    + " flushed; try again");
            assertThatThrownBy(() -> server.reload(plan("iscsi://10.0.0.1/iqn.a/0")))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("or is being flushed; try again");
            assertThat(server.units()).isEmpty();
            end.countDown();
        }
    }

    @Test
    void shouldCloseARemovedDeviceWhoseFlushDoesNotEnd() throws Exception {
        stuckDevice("disk:stuck");
        device("disk:good", NOTHING, NOTHING);
        StorageServer server = start(new ClosingLimits(SHORT, LONG, LONG, LONG), "disk:stuck",
                "disk:good");
        server.change(new LunRequest.Remove(IQN, 0));
        HookedDevice.await(opened("disk:stuck").closed);
        assertThat(warnings).contains(
                "disk:stuck could not be flushed and closed; the log has the cause");
        assertThatThrownBy(server::close).isInstanceOf(DeviceGoneException.class)
                .hasMessageContainingAll("disk:stuck was removed while the server ran",
                        "could not be flushed within", "data that it acknowledged may be lost");
        HookedDevice.await(opened("disk:good").flushed);
        assertThat(opened("disk:good").closed.getCount()).isZero();
    }

    @Test
    void shouldCloseAllDevicesThoughTheFlushOfOneDoesNotEnd() throws Exception {
        device("disk:a", NOTHING, NOTHING);
        stuckDevice("disk:stuck");
        device("disk:b", NOTHING, NOTHING);
        StorageServer server = start(new ClosingLimits(SHORT, LONG, LONG, LONG), "disk:a",
                "disk:stuck", "disk:b");
        assertThatThrownBy(server::close).isInstanceOf(DeadlineException.class)
                .hasMessageContaining("could not be flushed within");
        assertThat(opened.values()).allSatisfy(
                device -> assertThat(device.closed.getCount()).isZero());
    }

    @Test
    void shouldReportAtItsEndThatARemovedDeviceCouldNotBeFlushed() throws Exception {
        device("disk:bad", () -> {
            throw new DeviceGoneException("cannot be flushed");
        }, NOTHING);
        StorageServer server = start(PATIENT, "disk:bad");
        server.reload(plan());
        HookedDevice.await(opened("disk:bad").closed);
        assertThatThrownBy(server::close).isInstanceOf(StorageException.class)
                .hasMessageContaining("disk:bad was removed while the server ran, and could not be"
                        + " flushed and closed: cannot be flushed");
        assertThat(warnings).containsExactly("disk:bad: cannot be flushed");
    }

    @Test
    void shouldReportDevicesThatCannotBeClosedInTime() throws Exception {
        var end = new CountDownLatch(1);
        device("disk:removed", NOTHING, () -> HookedDevice.await(end));
        device("disk:served", NOTHING, () -> HookedDevice.await(end));
        StorageServer server = start(new ClosingLimits(LONG, SHORT, SHORT, SHORT), "disk:removed",
                "disk:served");
        server.change(new LunRequest.Remove(IQN, 0));
        assertThat(warnings).containsExactly(
                "disk:removed is still being flushed; a failure will be in the log");
        assertThatThrownBy(server::close).isInstanceOf(StorageException.class)
                .hasMessageContaining("disk:removed could not be flushed and closed within")
                .extracting(e -> e.getSuppressed()[0]).asInstanceOf(THROWABLE)
                .hasMessageContaining("disk:served could not be flushed and closed within");
        end.countDown();
        opened.values().forEach(device -> HookedDevice.await(device.closed));
    }

    /** Each close waits until the other has begun. */
    @Test
    void shouldCloseDevicesConcurrently() throws Exception {
        var both = new CountDownLatch(2);
        for (String uri : List.of("disk:a", "disk:b")) {
            device(uri, NOTHING, () -> {
                both.countDown();
                HookedDevice.await(both);
            });
        }
        start(PATIENT, "disk:a", "disk:b").close();
        assertThat(opened.values()).allSatisfy(
                device -> assertThat(device.flushed.getCount()).isZero());
        assertThat(warnings).isEmpty();
    }

    /** A gateway whose only path is away for good. */
    @Test
    void shouldFailAWriteThatWaitsForAPathWhenItsDeviceIsRemoved() throws Exception {
        ServerPlan memory = ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of("ram:1MiB"))));
        StorageServer store = StorageServer.start(memory);
        String uri = "iscsi://127.0.0.1:" + store.portals().getFirst().getPort() + "/" + IQN
                + "/0?no-path-retry=queue";
        var devices = new ArrayList<BlockDevice>();
        ServerPlan plan = plan(uri).withOpener((wanted, records) -> {
            devices.add(Devices.open(wanted, records));
            return devices.getLast();
        });
        StorageServer gateway = StorageServer.start(plan, ServerListener.LOGGING,
                PortalAddresses.NONE, new ClosingLimits(SHORT, LONG, LONG, LONG));
        store.close();
        var end = new CompletableFuture<Optional<StorageException>>();
        devices.getFirst().submit(new BlockRequest()
                .asWrite(0, 1, Arena.global().allocate(512), false)
                .onCompletion((_, failure) -> end.complete(Optional.ofNullable(failure))));
        gateway.reload(plan());
        assertThat(end.get(5, TimeUnit.MINUTES)).containsInstanceOf(DeviceGoneException.class);
        assertThatThrownBy(gateway::close).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("could not be flushed within");
    }

    /** A file whose sync takes long: its close waits for that. */
    @Test
    void shouldAcceptAFlushThatSucceedsDuringTheClose() throws Exception {
        openings.put("disk:slow", () -> {
            var device = new HookedDevice[1];
            device[0] = HookedDevice.of(() -> HookedDevice.await(device[0].closing),
                    () -> HookedDevice.await(device[0].flushed));
            return device[0];
        });
        start(new ClosingLimits(SHORT, LONG, LONG, LONG), "disk:slow").close();
        assertThat(warnings).isEmpty();
    }
}
