package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.multipath.PathPolicy;
import lunar.iscsi.login.Offer;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a write that is resent by another path because its path froze. After a later write to the same block is
 * acknowledged, the frozen path delivers the old write: the block must keep the later one.
 */
class LateWritesTest {
    private static final int BLOCK = 512;
    private static final Timeouts IMPATIENT = Timeouts.DEFAULT.withKeepAliveMs(1_500)
            .withAbortMs(2_000).withLogoutMs(500).withLoginMs(5_000).withConnectMs(5_000);

    private static ServedTarget served(int... groups) throws IOException {
        return ServedTarget.of(UnaryOperator.identity(), server -> {
            var builder = server.offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0));
            for (int group : groups) {
                builder = builder.portal(PortalSpec.of(new InetSocketAddress("127.0.0.1", 0))
                        .withGroup(group));
            }
            return builder;
        }, "ram:16MiB");
    }

    private static int port(ServedTarget target, int portal) {
        return target.server().portals().get(portal).getPort();
    }

    private static MultipathOptions by(int... ports) {
        return by(ServedTarget.NAME, Lun.ZERO, ports);
    }

    /** Paths that are soon given up, the first of them being the one in use. */
    static MultipathOptions by(String name, Lun lun, int... ports) {
        return by(Arrays.stream(ports).mapToObj(port -> path(name, port)).toList(), lun);
    }

    private static SessionOptions path(String name, int port) {
        return SessionOptions.of("127.0.0.1", port, name)
                .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0)).withTimeouts(IMPATIENT);
    }

    private static MultipathOptions by(List<SessionOptions> paths, Lun lun) {
        return MultipathOptions.of(paths, lun).withPauses(10, 100)
                .withPolicy(PathPolicy.fixed());
    }

    private static MemorySegment pattern(int value) {
        byte[] bytes = new byte[BLOCK];
        Arrays.fill(bytes, (byte) value);
        return MemorySegment.ofArray(bytes);
    }

    private static byte read(BlockDevice device) throws StorageException { return read(device, 0); }

    private static byte read(BlockDevice device, long lba) throws StorageException {
        MemorySegment block = pattern(0);
        device.read(lba, block);
        return block.get(ValueLayout.JAVA_BYTE, 0);
    }

    private static CompletableFuture<Void> submit(BlockDevice device, int value) {
        return submit(device, 0, value);
    }

    private static CompletableFuture<Void> submit(BlockDevice device, long lba, int value) {
        var done = new CompletableFuture<Void>();
        device.submit(new BlockRequest().asWrite(lba, 1, pattern(value), false)
                .onCompletion((_, failure) -> {
                    if (failure == null) {
                        done.complete(null);
                    } else {
                        done.completeExceptionally(failure);
                    }
                }));
        return done;
    }

    private static void awaitAllUp(MultipathDevice device) {
        ServedTarget.await("paths",
                () -> device.paths().stream().allMatch(p -> p.state() == Path.State.UP));
    }

    /** Freezes the first path under a write, and thaws it after a later one. */
    private static void freezeAndThaw(ServedTarget target, FreezeProxy proxy,
            MultipathDevice device) throws Exception {
        freezeAndThaw(proxy, device);
        assertThat(read(target.device(0))).as("at the target").isEqualTo((byte) 3);
    }

    /** Block 0 is 3 afterwards. */
    static void freezeAndThaw(FreezeProxy proxy, MultipathDevice device) throws Exception {
        awaitAllUp(device);
        device.write(0, pattern(1));
        proxy.freeze();
        submit(device, 2).get(60, TimeUnit.SECONDS);
        device.write(0, pattern(3));
        device.flush();
        assertThat(read(device)).isEqualTo((byte) 3);
        assertThat(proxy.heldToTarget()).as("the old write is still on its way").isPositive();
        proxy.thaw();
        ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
        awaitAllUp(device); // a login by the frozen path: what was held has been there before
        assertThat(read(device)).isEqualTo((byte) 3);
    }

    @Test
    void shouldNotUndoALaterWriteByAPathOfTheSameGroup() throws Exception {
        try (var target = served();
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                var device = MultipathDevice.open(initiator,
                        by(proxy.port(), port(target, 0)))) {
            freezeAndThaw(target, proxy, device);
        }
    }

    @Test
    void shouldNotUndoALaterWriteByAPathOfAnotherGroup() throws Exception {
        try (var target = served(2);
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                var device = MultipathDevice.open(initiator,
                        by(proxy.port(), port(target, 1)))) {
            freezeAndThaw(target, proxy, device);
        }
    }

    /** The login that ends the old session has the transport of the path that it uses. */
    @Test
    void shouldNotUndoALaterWriteByAPathOfAnotherTransport() throws Exception {
        RdmaDevices.require();
        try (var target = ServedTarget.of(UnaryOperator.identity(), server -> server
                .offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                .portal(PortalSpec.of(new InetSocketAddress("127.0.0.1", 0))
                        .withTransport(Transports.ISER)),
                "ram:16MiB");
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                var device = MultipathDevice.open(initiator, by(List.of(
                        path(ServedTarget.NAME, proxy.port()),
                        path(ServedTarget.NAME, port(target, 1)).withTransport(Transports.ISER)),
                        Lun.ZERO))) {
            freezeAndThaw(target, proxy, device);
        }
    }

    /** Whatever fails, the caller writes again, over another device of the same unit. */
    @Test
    void shouldNotUndoALaterWriteOfAnotherDeviceAfterNoPathRetry() throws Exception {
        try (var target = served();
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                var device = MultipathDevice.open(initiator, by(proxy.port()).withNoPathMs(200));
                var other = Initiator.create("iqn.2026-11.org.lunar:other")) {
            device.write(0, pattern(1));
            proxy.freeze();
            assertThatThrownBy(() -> submit(device, 2).get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(DeviceGoneException.class);
            try (var direct = MultipathDevice.open(other, by(port(target, 0)))) {
                direct.write(0, pattern(3));
                assertThat(proxy.heldToTarget()).isPositive();
                proxy.thaw();
                ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
                awaitAllUp(device);
                assertThat(read(direct)).isEqualTo((byte) 3);
                assertThat(read(target.device(0))).isEqualTo((byte) 3);
            }
        }
    }

    /** As a RAID member that failed and returns: only its old connection is still held. */
    @Test
    void shouldNotUndoALaterWriteOfADeviceThatIsOpenedAgain() throws Exception {
        try (var target = served(); var proxy = new FreezeProxy(port(target, 0))) {
            try (var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                    var device = MultipathDevice.open(initiator,
                            by(proxy.port()).withNoPathMs(0))) {
                device.write(0, pattern(1));
                proxy.freeze();
                assertThatThrownBy(() -> device.write(0, pattern(2)))
                        .isInstanceOf(DeviceGoneException.class);
                proxy.freezeOpen();
            }
            try (var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                    var device = MultipathDevice.open(initiator, by(proxy.port()))) {
                device.write(0, pattern(3));
                assertThat(proxy.heldToTarget()).isPositive();
                proxy.thaw();
                ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
                device.flush(); // by a connection of which nothing is held
                assertThat(read(target.device(0))).isEqualTo((byte) 3);
            }
        }
    }

    /** The command's time is over, and the abort is not answered either. */
    @Test
    void shouldNotUndoALaterWriteAfterADeadline() throws Exception {
        try (var target = served();
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late")) {
            MultipathOptions options = by(proxy.port(), port(target, 0));
            Timeouts late = IMPATIENT.withKeepAliveMs(20_000).withCommandMs(3_000);
            options = MultipathOptions.of(options.paths().stream()
                    .map(path -> path.withTimeouts(late)).toList(), Lun.ZERO)
                    .withPauses(10, 100).withPolicy(PathPolicy.fixed());
            try (var device = MultipathDevice.open(initiator, options)) {
                freezeAndThaw(target, proxy, device);
            }
        }
    }

    /** Connections of a session: whatever the frozen one had is sent again by the other. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldNotUndoALaterWriteByAnotherConnection(int level) throws Exception {
        try (var target = served();
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late")) {
            SessionOptions session = SessionOptions
                    .of("127.0.0.1", port(target, 0), ServedTarget.NAME)
                    .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0)).withTimeouts(IMPATIENT)
                    .withErrorRecoveryLevel(level).withConnections(2)
                    .withOtherPortals(List.of(new TargetAddress("127.0.0.1", proxy.port(),
                            OptionalInt.of(1))));
            try (var device = MultipathDevice.open(initiator,
                    MultipathOptions.of(List.of(session), Lun.ZERO).withPauses(10, 100))) {
                ServedTarget.await("both connections",
                        () -> target.server().connectionCount() == 2);
                int blocks = 8;
                for (int i = 0; i < blocks; i++) {
                    device.write(i, pattern(1));
                }
                proxy.freeze();
                var writes = new ArrayList<CompletableFuture<Void>>();
                for (int i = 0; i < blocks; i++) { // spread over both
                    writes.add(submit(device, i, 2));
                }
                for (CompletableFuture<Void> write : writes) {
                    write.get(60, TimeUnit.SECONDS);
                }
                for (int i = 0; i < blocks; i++) {
                    device.write(i, pattern(3));
                }
                assertThat(proxy.heldToTarget()).isPositive();
                proxy.thaw();
                ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
                device.flush();
                for (int i = 0; i < blocks; i++) {
                    assertThat(read(target.device(0), i)).as("block " + i).isEqualTo((byte) 3);
                }
            }
        }
    }

    /** A unit that does not look like one of ours: nothing but a portal of its own group ends the lost session. */
    @Test
    void shouldHoldOnlyWritesToTheSameBlocksUntilTheGroupReturns() throws Exception {
        var any = new InetSocketAddress("127.0.0.1", 0);
        try (BlockDevice unit = foreign(Devices.open("ram:16MiB"));
                var server = TargetServer.builder()
                        .offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                        .portal(any)
                        .portal(PortalSpec.of(any).withGroup(2))
                        .target(TargetSpec.of(ServedTarget.NAME).withLun(0, unit)).start();
                var proxy = new FreezeProxy(server.portals().getFirst().getPort());
                var initiator = Initiator.create("iqn.2026-11.org.lunar:late");
                var device = MultipathDevice.open(initiator,
                        by(proxy.port(), server.portals().getLast().getPort()))) {
            awaitAllUp(device);
            device.write(0, pattern(1));
            proxy.freeze();
            CompletableFuture<Void> held = submit(device, 2);
            CompletableFuture<Void> later = submit(device, 3);
            ServedTarget.await("loss", () -> device.paths().getFirst().failures() > 0);
            assertThat(read(device)).isEqualTo((byte) 1);
            device.write(8, pattern(8));
            device.flush();
            assertThat(read(device, 8)).isEqualTo((byte) 8);
            assertThat(device.paths().getLast().completed()).isPositive();
            assertThat(held).isNotDone();
            assertThat(later).isNotDone();
            proxy.thaw();
            held.get(60, TimeUnit.SECONDS);
            later.get(60, TimeUnit.SECONDS);
            device.write(0, pattern(4));
            ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
            awaitAllUp(device);
            assertThat(read(device)).isEqualTo((byte) 4);
            assertThat(read(unit)).isEqualTo((byte) 4);
        }
    }

    private static BlockDevice foreign(BlockDevice below) {
        return new ForwardingDevice(below) {
            @Override
            public Identity identity() {
                Identity own = below.identity();
                return new Identity("ACME", own.product(), own.revision(), own.serial(),
                        own.uuid());
            }

            @Override
            public void submit(BlockRequest request) { below.submit(request); }

            @Override
            public void execute(BlockRequest request) throws StorageException {
                below.execute(request);
            }
        };
    }
}
