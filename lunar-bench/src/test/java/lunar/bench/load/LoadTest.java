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

    private static LoadOrder order(TargetServer server, Work work, int sessions, Terms terms) {
        return new LoadOrder(uri(server.portals().getFirst().getPort()), BYTES, work, sessions,
                terms, 0, 200);
    }

    /** Every piece is written now and then, with what is not all zeroes. */
    private static void assertWritten(TargetServer server) throws Exception {
        try (BlockDevice device = Devices.open(uri(server.portals().getFirst().getPort()));
                var arena = Arena.ofShared()) {
            var all = arena.allocate(BYTES);
            device.read(0, all);
            long pieces = LongStream.range(0, BYTES / 4096)
                    .filter(i -> all.get(ValueLayout.JAVA_LONG, 4096 * i) != 0)
                    .count();
            assertThat(pieces).isGreaterThan(BYTES / 4096 / 2);
        }
    }

    @Test
    void shouldReadAndWriteByLibiscsi() throws Exception {
        assumeTrue(Libiscsi.isInstalled(), "libiscsi7 is not installed");
        try (var server = server()) {
            assertThat(new LibiscsiLoad().run(order(server, WRITES, 1, Terms.USUAL)).operations())
                    .isPositive();
            assertWritten(server);
            assertThat(new LibiscsiLoad().run(order(server, READS, 1, Terms.USUAL)).error())
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Terms.class)
    void shouldReadAndWriteByLunar(Terms terms) throws Exception {
        try (var server = server()) {
            var load = new LunarLoad();
            assertThat(load.run(order(server, WRITES, 3, terms)).slowestOfMean()).isBetween(0.0,
                    1.0);
            assertWritten(server);
            LoadResult reads = load.run(order(server, READS, 1, terms));
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
                LoadResult result = new ModelLoad().run(new LoadOrder(uri(server.port()), BYTES,
                        work, 1, Terms.USUAL, 0, 200));

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
