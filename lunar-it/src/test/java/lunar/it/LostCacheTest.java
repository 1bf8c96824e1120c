package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import lunar.block.Devices;
import lunar.block.LostWritesException;
import lunar.filter.VolatileFilter;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.scsi.ScsiUnit;
import lunar.iscsi.login.Offer;
import lunar.scsi.Lun;
import lunar.scsi.mode.CachingModePage;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a target that loses power for a moment, or is only unreachable, with writes that were not flushed. */
class LostCacheTest {
    private static ServedTarget served(String uri) throws IOException {
        return ServedTarget.of(UnaryOperator.identity(),
                server -> server.offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0)),
                uri);
    }

    private static MultipathDevice open(Initiator initiator, CutProxy... proxies)
            throws Exception {
        return MultipathDevice.open(initiator, options(proxies));
    }

    private static MultipathOptions options(CutProxy... proxies) {
        return MultipathOptions.of(Arrays.stream(proxies)
                .map(proxy -> SessionOptions.of("127.0.0.1", proxy.port(), ServedTarget.NAME)
                        .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0)))
                .toList(), Lun.ZERO).withPauses(10, 100);
    }

    private static int port(ServedTarget target) {
        return target.server().portals().getFirst().getPort();
    }

    private static MemorySegment ones() {
        byte[] bytes = new byte[4096];
        Arrays.fill(bytes, (byte) 1);
        return MemorySegment.ofArray(bytes);
    }

    /** Cuts all paths; while they are down the target loses what was not flushed. */
    private static void powerCycle(ServedTarget target, MultipathDevice device,
            CutProxy... proxies) {
        for (CutProxy proxy : proxies) {
            proxy.breakDown();
        }
        ServedTarget.await("loss", () -> device.paths().stream()
                .noneMatch(path -> path.state() == Path.State.UP));
        ((VolatileFilter) target.device(0)).dropCache();
        for (CutProxy proxy : proxies) {
            proxy.mend();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldFailOneFlushAfterThePowerWasOff(int paths) throws Exception {
        try (var target = served("volatile:ram:16MiB");
                var one = new CutProxy(port(target));
                var two = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:lost");
                var device = paths == 1 ? open(initiator, one) : open(initiator, one, two)) {
            device.write(0, ones());
            device.flush();
            powerCycle(target, device, one, two);
            device.flush(); // nothing to lose

            device.write(0, ones());
            powerCycle(target, device, one, two);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
            device.write(0, ones());
            device.flush();
        }
    }

    /** Both were waiting for a path; both callers count on what was lost. */
    @Test
    void shouldFailAllFlushesThatWaitForThePath() throws Exception {
        try (var target = served("volatile:ram:16MiB");
                var proxy = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:lost");
                var device = open(initiator, proxy)) {
            device.write(0, ones());
            proxy.breakDown();
            CompletableFuture<Void> first = device.submitFlush();
            CompletableFuture<Void> second = device.submitFlush();
            ((VolatileFilter) target.device(0)).dropCache();
            proxy.mend();
            for (CompletableFuture<Void> flush : List.of(first, second)) {
                assertThatThrownBy(flush::get).isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(LostWritesException.class);
            }
            device.flush();
        }
    }

    @Test
    void shouldNotTreatALostNexusAsALossOfTheCache() throws Exception {
        try (var target = served("volatile:ram:16MiB");
                var one = new CutProxy(port(target));
                var two = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:lost");
                var device = open(initiator, one, two)) {
            for (int i = 0; i < 10; i++) {
                device.write(0, ones());
                one.cut();
                two.cut();
                device.flush();
            }
            assertThat(device.writeLosses()).isZero();
        }
    }

    /**
     * A process that ends and leaves its blocks to the page cache has lost nothing; one that had them itself has,
     * unless the operator says that they survive.
     */
    @ParameterizedTest
    @CsvSource({"'', false, false", "volatile:, false, true", "volatile:, true, false"})
    void shouldDistinguishAProcessThatKeptItsBlocksFromOneThatDidNot(String filter,
            boolean isStable, boolean isLost, @TempDir java.nio.file.Path folder)
            throws Exception {
        String uri = filter + "file:" + folder.resolve("disk.img") + "?size=16MiB";
        int port = FreePorts.one();
        try (var first = ServedTarget.of(UnaryOperator.identity(),
                server -> server.portal(new InetSocketAddress("127.0.0.1", port))
                        .offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0)),
                uri);
                var proxy = new CutProxy(port);
                var initiator = Initiator.create("iqn.2026-11.org.lunar:lost")) {
            try (var device = MultipathDevice.open(initiator,
                    options(proxy).withStableCache(isStable))) {
                device.write(0, ones());
                proxy.breakDown();
                first.server().close();
                first.device(0).close();
                try (var store = Devices.open(uri);
                        var _ = TargetServer.builder().portal("127.0.0.1", port)
                                .offer(TargetServer.DEFAULT_OFFER.withDefaultTime2WaitSeconds(0))
                                .target(TargetSpec.of(ServedTarget.NAME)
                                        .withLun(0, store))
                                .start()) {
                    proxy.mend();
                    if (isLost) {
                        assertThatThrownBy(device::flush)
                                .isInstanceOf(LostWritesException.class)
                                .hasMessageContaining("write verifier");
                    }
                    device.flush();
                }
            }
        }
    }

    private static void switchCache(ScsiUnit unit, boolean on) throws Exception {
        int wce = 0x04;
        var _ = unit.modes().change(CachingModePage.CODE, 0, page -> page.withParameters(
                page.parameters().with(0, page.parameters().at(0) & ~wce | (on ? wce : 0))),
                false);
    }

    /** The change comes while a session goes on that has opened the unit without a cache. */
    @Test
    void shouldTrackWritesToACacheThatAnotherHostHasSwitchedOn() throws Exception {
        try (var target = served("volatile:ram:16MiB");
                var proxy = new CutProxy(port(target));
                var initiator = Initiator.create("iqn.2026-11.org.lunar:lost");
                var other = Initiator.create("iqn.2026-11.org.lunar:other");
                var session = other.login(SessionOptions.of("127.0.0.1", port(target),
                        ServedTarget.NAME))) {
            var unit = ScsiUnit.of(session, Lun.ZERO);
            switchCache(unit, false);
            try (var device = open(initiator, proxy)) {
                device.write(0, ones());
                powerCycle(target, device, proxy);
                device.flush();
                assertThat(device.writeLosses()).isZero();

                switchCache(unit, true);
                device.write(0, ones());
                powerCycle(target, device, proxy);
                assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
                device.flush();
            }
        }
    }
}
