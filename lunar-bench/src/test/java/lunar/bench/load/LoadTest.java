package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.BenchTarget;
import lunar.bench.harness.Server;
import lunar.bench.harness.Work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import lunar.bench.load.LoadOrder.Window;
import lunar.bench.harness.Pair.Terms;
import lunar.bench.harness.Work.Operation;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.target.TargetServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that each client does the work that its figures report. */
class LoadTest {
    private static final int BYTES = 1 << 20;
    private static final Work WRITES = new Work("writes", Operation.WRITE, 4096, true, 8, false);
    private static final Work READS = new Work("reads", Operation.READ, 64 << 10, false, 4, false);

    private static TargetServer server() throws Exception {
        return BenchTarget.start(1, "ram:" + BYTES, Server.HOST, 0, Server.IQN);
    }

    private static String uri(int port) {
        return "iscsi://" + Server.HOST + ":" + port + "/" + Server.IQN + "/0";
    }

    private static LoadOrder order(TargetServer server, Work work, int sessions, Terms terms,
            int ms) {
        return new LoadOrder(uri(server.portals().getFirst().getPort()), BYTES, work, sessions,
                terms, 0, ms);
    }

    private interface Load {
        void run(LoadOrder order) throws Exception;
    }

    /** Asserts that a load writes most pieces; repeats it with more time for machines that do little in a short one. */
    private static void assertWrites(TargetServer server, int sessions, Terms terms, Load load)
            throws Exception {
        for (int ms = 200; ms <= 12_800 && written(server) <= BYTES / 4096 / 2; ms *= 2) {
            load.run(order(server, WRITES, sessions, terms, ms));
        }
        assertThat(written(server)).isGreaterThan(BYTES / 4096 / 2);
    }

    private interface Run {
        LoadResult run(int ms) throws Exception;
    }

    /** Runs a load with more and more time until it has done something. */
    private static LoadResult untilBusy(Run load) throws Exception {
        LoadResult result = load.run(200);
        for (int ms = 400; ms <= 12_800 && result.operations() == 0; ms *= 2) {
            result = load.run(ms);
        }
        return result;
    }

    /** Counts the pieces with what is not all zeroes. */
    private static long written(TargetServer server) throws Exception {
        try (BlockDevice device = Devices.open(uri(server.portals().getFirst().getPort()));
                var arena = Arena.ofShared()) {
            var all = arena.allocate(BYTES);
            device.read(0, all);
            return LongStream.range(0, BYTES / 4096)
                    .filter(i -> all.get(ValueLayout.JAVA_LONG, 4096 * i) != 0)
                    .count();
        }
    }

    @Test
    void shouldReadAndWriteByLibiscsi() throws Exception {
        assumeTrue(Libiscsi.isInstalled(), "libiscsi7 is not installed");
        try (var server = server()) {
            var load = new LibiscsiLoad();
            assertWrites(server, 1, Terms.USUAL, order -> load.run(order));
            for (Work work : List.of(WRITES, READS)) {
                LoadResult result = untilBusy(
                        ms -> load.run(order(server, work, 1, Terms.USUAL, ms)));
                assertThat(result.error()).isEmpty();
                assertThat(result.operations()).isPositive();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Terms.class)
    void shouldReadAndWriteByLunar(Terms terms) throws Exception {
        try (var server = server()) {
            var load = new LunarLoad();
            assertWrites(server, 3, terms,
                    order -> assertThat(load.run(order).slowestOfMean()).isBetween(0.0, 1.0));
            LoadResult reads = untilBusy(ms -> load.run(order(server, READS, 1, terms, ms)));
            assertThat(reads.operations()).isPositive();
            assertThat(reads.p50Us()).isPositive().isLessThanOrEqualTo(reads.p999Us());
        }
    }

    @Test
    void shouldReportThatARequestFailed() throws Exception {
        try (var server = server()) {
            var beyond = new LoadOrder(uri(server.portals().getFirst().getPort()), 2 * BYTES,
                    WRITES, 1, Terms.USUAL, 0, 200);

            assertThatThrownBy(() -> new LibiscsiLoad().run(beyond))
                    .isInstanceOf(BenchException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Operation.class, names = {"READ", "WRITE"})
    void shouldRunTheModelLoop(Operation operation) throws Exception {
        try (var server = ModelServer.start()) {
            for (int bytes : new int[]{4096, 256 << 10}) {
                var work = new Work("loop", operation, bytes, true, 8, false);
                LoadResult result = untilBusy(ms -> new ModelLoad().run(new LoadOrder(
                        uri(server.port()), BYTES, work, 1, Terms.USUAL, 0, ms)));

                assertThat(result.error()).isEmpty();
                assertThat(result.operations()).isPositive();
            }
        }
    }

    @Test
    void shouldVisitAllFieldsInOrder() {
        var cursor = new AtomicLong();
        var places = new Places(READS, 4 * READS.requestBytes() + 1, 0, cursor);

        assertThat(LongStream.generate(places::next).limit(6)).containsExactly(0L, 1L, 2L, 3L, 0L,
                1L);
    }

    @Test
    void shouldCountByTheWindow() {
        var window = new Window(-5, 10); // nanoTime may be negative

        assertThat(window.holds(-6)).isFalse();
        assertThat(window.holds(-5)).isTrue();
        assertThat(window.holds(10)).isFalse();
        assertThat(window.isOver(10)).isTrue();
    }
}
