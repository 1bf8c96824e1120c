package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.multipath.PathPolicy;
import lunar.iscsi.login.Offer;
import lunar.scsi.Lun;
import lunar.store.MemoryDevice;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.Test;

/** Tests that each host of a gateway learns of a loss which the gateway's device reports only once. */
class GatewayLossTest {
    /** A LUN of an array without a write verifier, which loses its cache. */
    private static final class Array extends ForwardingDevice {
        private final AtomicLong losses = new AtomicLong();
        private final AtomicLong reported = new AtomicLong();

        Array() { super(MemoryDevice.create(1 << 20, 512)); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            long now = losses.get();
            if ((request.operation() == BlockRequest.Operation.FLUSH || request.fua())
                    && reported.getAndSet(now) != now) {
                throw new LostWritesException("the cache was lost");
            }
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            RequestCompletion.executeAndComplete(request, this);
        }

        @Override
        public long writeLosses() { return losses.get(); }

        @Override
        public Optional<UUID> writeVerifier() { return Optional.empty(); }
    }

    private final Array array = new Array();

    private static TargetServer serve(BlockDevice device) throws Exception {
        return TargetServer.builder().portal("127.0.0.1", 0)
                .offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                .target(TargetSpec.of(ServedTarget.NAME).withLun(0, device)).start();
    }

    private static int port(TargetServer server) { return server.portals().getFirst().getPort(); }

    private static MultipathDevice open(Initiator initiator, int port) throws Exception {
        return MultipathDevice.open(initiator, MultipathOptions.of(
                List.of(SessionOptions.of("127.0.0.1", port, ServedTarget.NAME)
                        .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0))),
                Lun.ZERO).withPauses(10, 100));
    }

    private static Initiator host(String name) {
        return Initiator.create("iqn.2026-11.org.lunar:" + name);
    }

    private static void write(BlockDevice device) throws StorageException {
        device.write(0, MemorySegment.ofArray(new byte[512]));
    }

    private static void assertLostOnce(BlockDevice device) throws StorageException {
        assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
        device.flush();
    }

    private static void awaitDown(TargetServer server, MultipathDevice device, int sessions) {
        ServedTarget.await("loss", () -> server.sessionCount() == sessions
                && device.paths().stream().noneMatch(path -> path.state() == Path.State.UP));
    }

    @Test
    void shouldTellAHostThatHadNoSessionAtTheLoss() throws Exception {
        try (var server = serve(array);
                var proxy = new CutProxy(port(server));
                var first = host("first");
                var second = host("second");
                var one = open(first, port(server));
                var two = open(second, proxy.port())) {
            write(one);
            write(two);
            proxy.breakDown();
            awaitDown(server, two, 1);
            array.losses.incrementAndGet();
            assertLostOnce(one);
            proxy.mend();
            assertLostOnce(two);
            write(two);
            proxy.cut();
            two.flush();
        }
    }

    @Test
    void shouldNotAlarmAHostThatHadFlushed() throws Exception {
        try (var server = serve(array);
                var proxy = new CutProxy(port(server));
                var first = host("first");
                var second = host("second");
                var one = open(first, port(server));
                var two = open(second, proxy.port())) {
            write(two);
            two.flush();
            proxy.breakDown();
            awaitDown(server, two, 1);
            array.losses.incrementAndGet();
            assertLostOnce(one);
            proxy.mend();
            two.flush();
            write(two);
            two.flush();
            assertThat(two.writeLosses()).isZero();
        }
    }

    /** The write verifier has changed; the session that was told has read it again. */
    @Test
    void shouldNotAlarmAHostAgainAfterItsNextLogin() throws Exception {
        try (var server = serve(array);
                var proxy = new CutProxy(port(server));
                var first = host("first");
                var one = open(first, proxy.port())) {
            write(one);
            array.losses.incrementAndGet();
            assertLostOnce(one);
            write(one);
            proxy.cut();
            one.flush();
        }
    }

    @Test
    void shouldTellEveryHostOfASecondGateway() throws Exception {
        try (var near = serve(array);
                var gateway = host("gateway");
                var cache = new CacheFilter(open(gateway, port(near)),
                        CacheOptions.of(1 << 20));
                var far = serve(cache);
                var first = host("first");
                var second = host("second");
                var one = open(first, port(far));
                var two = open(second, port(far))) {
            write(one);
            write(two);
            one.read(0, MemorySegment.ofArray(new byte[512]));
            assertThat(cache.statistics().heldPages()).isPositive();
            array.losses.incrementAndGet();
            assertLostOnce(one);
            assertThat(cache.writeLosses()).isEqualTo(1);
            assertThat(cache.statistics().heldPages()).isZero();
            assertLostOnce(two);
            write(one);
            one.flush();
        }
    }

    /** The gateway's own session has read another verifier since, without another loss. */
    @Test
    void shouldNotAlarmAHostBecauseTheGatewayHasLoggedInAgain() throws Exception {
        try (var near = serve(array);
                var between = new CutProxy(port(near));
                var gateway = host("gateway");
                var shared = open(gateway, between.port());
                var far = serve(shared);
                var proxy = new CutProxy(port(far));
                var first = host("first");
                var one = open(first, proxy.port())) {
            write(one);
            array.losses.incrementAndGet();
            assertLostOnce(one);
            write(one);
            between.breakDown();
            awaitDown(near, shared, 0);
            between.mend();
            shared.read(0, MemorySegment.ofArray(new byte[512]));
            proxy.cut();
            one.flush();
            assertThat(one.writeLosses()).isEqualTo(1);
        }
    }

    /** Each path is an initiator port of its own, which the target tells. */
    @Test
    void shouldTellAHostOfALossOnceHoweverManyPathsItHas() throws Exception {
        try (var server = serve(array); var first = host("first")) {
            SessionOptions path = SessionOptions.of("127.0.0.1", port(server), ServedTarget.NAME);
            try (var one = MultipathDevice.open(first, MultipathOptions
                    .of(List.of(path, path, path), Lun.ZERO).withPolicy(PathPolicy.roundRobin()))) {
                ServedTarget.await("paths", () -> one.paths().stream()
                        .allMatch(each -> each.state() == Path.State.UP));
                write(one);
                array.losses.incrementAndGet();
                assertThatThrownBy(one::flush).isInstanceOf(LostWritesException.class);
                for (int i = 0; i < 6; i++) {
                    one.flush();
                }
                assertThat(one.writeLosses()).isEqualTo(1);
            }
        }
    }
}
