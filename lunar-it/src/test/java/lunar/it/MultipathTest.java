package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.multipath.PathEvent;
import lunar.initiator.multipath.PathPolicy;
import lunar.iscsi.login.Offer;
import lunar.scsi.Lun;
import lunar.scsi.primary.TargetPortGroups;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.Seed;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Tests paths that come and go under I/O, with Lunar's target behind proxies that cut connections. */
class MultipathTest {
    private static final int BLOCK = 512;

    /** No Time2Wait, so that tests need not wait for it. */
    private static ServedTarget served(String uri) throws IOException {
        return ServedTarget.of(UnaryOperator.identity(),
                server -> server.offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0)),
                uri);
    }

    private static SessionOptions by(int port) {
        return SessionOptions.of("127.0.0.1", port, ServedTarget.NAME)
                .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0));
    }

    private static MultipathOptions by(CutProxy... proxies) {
        return MultipathOptions.of(
                Arrays.stream(proxies).map(proxy -> by(proxy.port())).toList(), Lun.ZERO)
                .withPauses(10, 100);
    }

    private static int port(ServedTarget target) {
        return target.server().portals().getFirst().getPort();
    }

    private static MemorySegment pattern(int blocks, int value) {
        byte[] bytes = new byte[blocks * BLOCK];
        Arrays.fill(bytes, (byte) value);
        return MemorySegment.ofArray(bytes);
    }

    private static byte read(BlockDevice device, long lba) throws StorageException {
        MemorySegment block = pattern(1, 0);
        device.read(lba, block);
        return block.get(ValueLayout.JAVA_BYTE, 0);
    }

    private static Future<Integer> work(BlockDevice device, int worker, AtomicBoolean enough) {
        return VerifiedWork.start(device, worker * 1024L, 1024, worker, enough);
    }

    private static Path path(MultipathDevice device, int index) {
        return device.paths().get(index);
    }

    @Test
    void shouldContinueWhenEveryConnectionIsCutAgainAndAgain() throws Exception {
        var random = new Random(Seed.next());
        var events = new ConcurrentLinkedQueue<PathEvent>();
        try (var target = served("ram:16MiB");
                var one = new CutProxy(port(target));
                var two = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator, by(one, two)
                        .withPolicy(PathPolicy.roundRobin()).withListener(events::add))) {
            var enough = new AtomicBoolean();
            List<Future<Integer>> workers = IntStream.range(0, 8)
                    .mapToObj(worker -> work(device, worker, enough)).toList();
            for (int i = 0; i < 20; i++) {
                Thread.sleep(50 + random.nextInt(100));
                (random.nextBoolean() ? one : two).cut();
                if (i % 5 == 0) {
                    one.cut();
                    two.cut();
                }
            }
            enough.set(true);
            for (Future<Integer> worker : workers) {
                assertThat(worker.get(60, TimeUnit.SECONDS)).isPositive();
            }
            assertThat(events).anyMatch(event -> event.why().isPresent())
                    .anyMatch(event -> event.after() == Path.State.UP);
        }
    }

    @Test
    void shouldUseTheOtherPathAndThenBothAgain() throws Exception {
        try (var target = served("ram:16MiB");
                var one = new CutProxy(port(target));
                var two = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator,
                        by(one, two).withPolicy(PathPolicy.fixed()))) {
            ServedTarget.await("both paths",
                    () -> device.paths().stream().allMatch(p -> p.state() == Path.State.UP));
            device.write(0, pattern(1, 7));
            assertThat(path(device, 1).completed()).as("the first is the one in use").isZero();
            one.breakDown();
            assertThat(read(device, 0)).isEqualTo((byte) 7);
            assertThat(path(device, 1).completed()).isPositive();
            ServedTarget.await("loss", () -> path(device, 0).state() != Path.State.UP);
            one.mend();
            ServedTarget.await("failback", () -> path(device, 0).failures() > 0
                    && path(device, 0).state() == Path.State.UP);
            long before = path(device, 1).completed();
            assertThat(read(device, 0)).isEqualTo((byte) 7);
            assertThat(path(device, 1).completed()).isEqualTo(before);
        }
    }

    @Test
    void shouldHoldRequestsWhileThereIsNoPath() throws Exception {
        try (var target = served("ram:16MiB");
                var proxy = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator,
                        by(proxy).withNoPathMs(MultipathOptions.FOREVER));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            proxy.breakDown();
            ServedTarget.await("loss", () -> path(device, 0).state() != Path.State.UP);
            var submitted = new CompletableFuture<Void>();
            device.submit(new BlockRequest().asWrite(3, 1, pattern(1, 9), false)
                    .onCompletion((_, failure) -> {
                        if (failure == null) {
                            submitted.complete(null);
                        } else {
                            submitted.completeExceptionally(failure);
                        }
                    }));
            Future<Byte> read = threads.submit(() -> read(device, 5));
            Thread.sleep(300);
            assertThat(submitted).isNotDone();
            assertThat(read).isNotDone();
            proxy.mend();
            submitted.get(60, TimeUnit.SECONDS);
            assertThat(read.get(60, TimeUnit.SECONDS)).isZero();
            assertThat(read(device, 3)).isEqualTo((byte) 9);
        }
    }

    @Test
    void shouldFailRequestsThatHaveWaitedTooLongForAPath() throws Exception {
        try (var target = served("ram:16MiB");
                var proxy = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator, by(proxy).withNoPathMs(200))) {
            proxy.breakDown();
            assertThatThrownBy(() -> read(device, 0)).isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("no path");
            var submitted = new CompletableFuture<StorageException>();
            device.submit(new BlockRequest().asFlush()
                    .onCompletion((_, failure) -> submitted.complete(failure)));
            assertThat(submitted.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(DeviceGoneException.class);
        }
    }

    /** A unit whose first COMPARE AND WRITE ends when it is told to. */
    private static final class Holding extends ForwardingDevice {
        private final CompletableFuture<BlockRequest> held = new CompletableFuture<>();

        Holding(BlockDevice below) { super(below); }

        @Override
        public void submit(BlockRequest request) {
            if (request.operation() != BlockRequest.Operation.COMPARE_AND_WRITE
                    || !held.complete(request)) {
                below().submit(request);
            }
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        void go() { var _ = held.thenAccept(below()::submit); }
    }

    @Test
    void shouldNotCompareAndWriteTwice() throws Exception {
        try (var unit = new Holding(Devices.open("ram:16MiB"));
                var server = TargetServer.builder()
                        .offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                        .portal("127.0.0.1", 0)
                        .target(TargetSpec.of(ServedTarget.NAME).withLun(0, unit)).start();
                var proxy = new CutProxy(server.portals().getFirst().getPort());
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator, by(proxy));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> swap = threads.submit(() -> {
                device.compareAndWrite(0, MemorySegment.ofArray(new byte[2 * BLOCK]));
                return null;
            });
            ServedTarget.await("begun", unit.held::isDone);
            proxy.cut();
            assertThatThrownBy(() -> swap.get(60, TimeUnit.SECONDS))
                    .cause().isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("outcome is unknown");
            unit.go();
            assertThat(read(device, 0)).as("the device is there again").isZero();
        }
    }

    @Test
    void shouldUseThePathsInTheBestAccessState() throws Exception {
        try (var target = ServedTarget.of(UnaryOperator.identity(),
                server -> server.offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                        .portal(PortalSpec.of(new InetSocketAddress("127.0.0.1", 0)).withGroup(2)),
                "ram:16MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths");
                var device = MultipathDevice.open(initiator, MultipathOptions.of(
                        target.server().portals().stream().map(p -> by(p.getPort())).toList(),
                        Lun.ZERO).withPauses(10, 100).withPolicy(PathPolicy.roundRobin()))) {
            ServedTarget.await("both paths",
                    () -> device.paths().stream().allMatch(p -> p.state() == Path.State.UP));
            change(target, 1, TargetPortGroups.State.STANDBY);
            for (int i = 0; i < 10; i++) {
                device.write(i, pattern(1, i));
            }
            ServedTarget.await("standby", () -> path(device, 0).state() == Path.State.PASSIVE);
            long before = path(device, 0).completed();
            device.flush();
            assertThat(path(device, 0).completed()).isEqualTo(before);
            change(target, 1, TargetPortGroups.State.ACTIVE_OPTIMIZED);
            ServedTarget.await("failback", () -> path(device, 0).state() == Path.State.UP);
            change(target, 2, TargetPortGroups.State.ACTIVE_NON_OPTIMIZED);
            ServedTarget.await("the better state", () -> {
                long soFar = path(device, 1).completed();
                try {
                    device.flush(); // hears of it by a unit attention
                    device.flush(); // in turn by the other path, as long as both are used
                } catch (StorageException e) {
                    throw new AssertionError(e);
                }
                return path(device, 1).access() == TargetPortGroups.State.ACTIVE_NON_OPTIMIZED
                        && path(device, 1).completed() == soFar;
            });
            long slow = path(device, 1).completed();
            for (int i = 0; i < 10; i++) {
                assertThat(read(device, i)).isEqualTo((byte) i);
            }
            assertThat(path(device, 1).completed()).isEqualTo(slow);
        }
    }

    private static void change(ServedTarget target, int group, TargetPortGroups.State state)
            throws StorageException {
        target.server().changeAccess(ServedTarget.NAME, group, state);
    }

    @RepeatedTest(10) // which path is first, or whether both are, is a matter of luck
    void shouldNotMixUpUnits() throws Exception {
        var events = new ConcurrentLinkedQueue<PathEvent>();
        try (var target = served("ram:16MiB");
                var other = served("ram:16MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:paths")) {
            var paths = List.of(by(port(target)), by(port(other)));
            try (var device = MultipathDevice.open(initiator,
                    MultipathOptions.of(paths, Lun.ZERO).withListener(events::add))) {
                ServedTarget.await("foreign path", () -> device.paths().stream()
                        .anyMatch(p -> p.state() == Path.State.FOREIGN));
                var values = new ArrayList<Byte>();
                for (int i = 0; i < 16; i++) {
                    device.write(i, pattern(1, i));
                    values.add(read(device, i));
                }
                assertThat(values).hasSize(16).allMatch(value -> value == values.indexOf(value));
            }
        }
    }

    @Test
    void shouldOpenSeveralSessionsFromAUri() throws Exception {
        try (var target = ServedTarget.of(UnaryOperator.identity(),
                server -> server.portal(PortalSpec.of(new InetSocketAddress("127.0.0.1", 0))),
                "ram:16MiB");
                var device = (MultipathDevice) Devices
                        .open(target.url(0) + "?sessions=4&policy=round-robin&no-path-retry=5")) {
            assertThat(device.paths()).hasSize(4);
            assertThat(device.paths().stream().map(p -> p.portal().port()).distinct())
                    .as("spread over the portals").hasSize(2);
            ServedTarget.await("four sessions", () -> target.server().sessionCount() == 4);
            device.write(0, pattern(1, 5));
            assertThat(read(device, 0)).isEqualTo((byte) 5);
        }
    }
}
