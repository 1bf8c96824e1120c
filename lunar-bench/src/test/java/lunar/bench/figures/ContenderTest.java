package lunar.bench.figures;

import lunar.bench.load.Lane;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.BenchTarget;
import lunar.bench.harness.Server;
import lunar.bench.harness.Stamps;
import lunar.bench.load.Libiscsi;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.target.TargetServer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that each compared initiator does the work that it is timed for. */
class ContenderTest {
    private static final int PIECES = 256;
    private static final int SESSIONS = 4;

    @TempDir
    Path folder;

    enum Kind {
        LUNAR, LIBISCSI, JSCSI
    }

    private static String uri(TargetServer server) {
        return "iscsi://" + Server.HOST + ":" + server.portals().getFirst().getPort() + "/"
                + Server.IQN + "/0";
    }

    private Contender open(Kind kind, TargetServer server) throws BenchException {
        int port = server.portals().getFirst().getPort();
        return switch (kind) {
            case LUNAR -> new LunarContender(uri(server));
            case LIBISCSI -> {
                assumeTrue(Libiscsi.isInstalled(), "libiscsi7 is not installed");
                yield new LibiscsiContender(port, Server.IQN, 512);
            }
            case JSCSI -> new JscsiContender(port, Server.IQN, 512, SESSIONS, folder);
        };
    }

    private static TargetServer server() throws Exception {
        return BenchTarget.start(1, "ram:" + PIECES * Stamps.BYTES, Server.HOST, 0, Server.IQN);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldWriteWhatIsReadBackLater(Kind kind) throws Exception {
        int[] places = IntStream.range(0, PIECES).map(i -> i * 37 % PIECES).toArray(); // each once
        try (var server = server(); Contender contender = open(kind, server)) {
            contender.queued(32).run(true, places);
            contender.blocking().run(false, places);
            contender.blocking().run(true, new int[]{5});
            contender.queued(4).run(false, new int[]{5, 7});
            try (var lunar = new LunarContender(uri(server))) { // what others have written too
                lunar.blocking().run(false, places);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldNotCacheUnwrittenData(Kind kind) throws Exception {
        try (var server = server(); Contender contender = open(kind, server)) {
            contender.blocking().run(true, new int[]{0, 1, 2, 3});
            try (BlockDevice device = Devices.open(uri(server)); Arena arena = Arena.ofShared()) {
                device.write(2 * Stamps.BYTES / 512, arena.allocate(Stamps.BYTES));
            }

            Lane lane = contender.blocking();
            lane.run(false, new int[]{0, 1, 3});
            assertThatThrownBy(() -> lane.run(false, new int[]{0, 2}))
                    .isInstanceOf(BenchException.class).hasMessageContaining("wrong data");
            Lane queue = contender.queued(2);
            assertThatThrownBy(() -> queue.run(false, new int[]{0, 1, 2, 3}))
                    .isInstanceOf(BenchException.class).hasMessageContaining("wrong data");
        }
    }
}
