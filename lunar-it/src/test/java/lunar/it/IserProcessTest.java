package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests iSER between an initiator and a target in different processes. */
class IserProcessTest {
    private static final String IQN = "iqn.2026-11.org.lunar:process";
    private static final int BLOCK = 512;
    private static final int CHUNK = 128 * BLOCK;
    private static final int WRITERS = 4;
    private static final int WARM_UP = 300;
    private static final int CONNECTIONS = 500;
    private static final int ROUNDS = 3;
    private static final int REMAINING_BYTES = 8 << 10;

    @TempDir
    Path folder;

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }

    private ServeProcess serve(String portal) throws Exception { return serve(portal, Map.of()); }

    private ServeProcess serve(String portal, Map<String, String> environment)
            throws Exception { return new ServeProcess(folder, """
                    portals = ["127.0.0.1:0", { listen = "%s", transport = "iser" }]
                    rdma-provider = "libfabric:tcp"
                    iqn = "%s"
                    luns = ["file:%s?size=8MiB"]
                    """.formatted(portal, IQN, folder.resolve("disk.img")), 1, environment); }

    private static String url(String portal) {
        return portal + "/" + IQN + "/0?rdma-provider=libfabric:tcp&no-path-retry=queue";
    }

    @Test
    void shouldServeAnotherProcess() throws Exception {
        try (var server = serve("127.0.0.1:0")) {
            String portal = server.portal(1);
            assertThat(portal).startsWith("iser://127.0.0.1:");
            try (BlockDevice device = Devices.open(url(portal))) {
                MemorySegment data = MemorySegment.ofArray(new byte[CHUNK]);
                data.fill((byte) 7);
                device.write(1000, data);
                MemorySegment back = MemorySegment.ofArray(new byte[CHUNK]);
                device.read(1000, back);
                assertThat(back.mismatch(data)).isEqualTo(-1);
            }
        } // fails if the process does not exit with status 0
    }

    @Test
    void shouldNotGrowInMemoryOverAThousandConnections() throws Exception {
        // The heap has its final size from the start, so that resident memory grows by native memory only. What the
        // JVM compiles late grows it too, but not in each round, as what connections leave behind would.
        try (var server = serve("127.0.0.1:0", Map.of("JAVA_TOOL_OPTIONS",
                "-Xms64m -Xmx64m -XX:+AlwaysPreTouch -XX:TieredStopAtLevel=1"))) {
            String url = url(server.portal(1));
            connect(url, WARM_UP);
            long least = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                long before = server.residentBytes();
                connect(url, CONNECTIONS);
                least = Math.min(least, (server.residentBytes() - before) / CONNECTIONS);
            }
            assertThat(least).as("bytes of a connection that remain")
                    .isLessThan(REMAINING_BYTES);
        }
    }

    private static void connect(String url, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            try (BlockDevice device = Devices.open(url)) {
                device.read(0, MemorySegment.ofArray(new byte[CHUNK]));
            }
        }
    }

    @Test
    void shouldResumeAfterTheServerIsKilledDuringTransfers() throws Exception {
        ServeProcess first = serve("127.0.0.1:" + FreePorts.one());
        String portal = first.portal(1);
        var stop = new AtomicBoolean();
        var written = new AtomicInteger();
        try (BlockDevice device = Devices.open(url(portal));
                var threads = Executors.newFixedThreadPool(WRITERS)) {
            var running = new ArrayList<Future<Byte>>();
            for (int writer = 0; writer < WRITERS; writer++) {
                long at = (long) writer * CHUNK / BLOCK;
                Callable<Byte> work = () -> {
                    MemorySegment data = MemorySegment.ofArray(new byte[CHUNK]);
                    byte round = 0;
                    while (!stop.get()) {
                        data.fill(++round);
                        device.write(at, data);
                        written.incrementAndGet();
                    }
                    return round;
                };
                running.add(threads.submit(work));
            }
            try {
                ServedTarget.await("writes", () -> written.get() > 50);
                first.kill();
                int before = written.get();
                try (var second = serve(portal.substring("iser://".length()))) {
                    assertThat(second.portal(1)).isEqualTo(portal);
                    ServedTarget.await("writes after the restart",
                            () -> written.get() > before + 2 * WRITERS);
                    stop.set(true);
                    for (int writer = 0; writer < WRITERS; writer++) {
                        byte last = running.get(writer).get();
                        byte[] back = new byte[CHUNK];
                        device.read((long) writer * CHUNK / BLOCK, MemorySegment.ofArray(back));
                        assertThat(back).as("writer %d", writer).containsOnly(last);
                    }
                    device.close();
                }
            } finally {
                stop.set(true);
            }
        } finally {
            first.close();
        }
    }
}
