package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.scsi.Lun;
import lunar.target.ServerLimits;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests many LUNs, sessions, threads and requests of one initiator at once, in one JVM. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ScaleTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:scale";
    private static final int BLOCK = 512;
    private static final int LUNS = 100;
    private static final int THREADS = 64;
    private static final int DEPTH = 1024;

    private final List<AutoCloseable> opened = new ArrayList<>();

    private <T extends AutoCloseable> T keep(T one) {
        opened.addLast(one);
        return one;
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private SessionOptions serve(int luns, String device) throws IOException {
        TargetSpec target = TargetSpec.of(TARGET);
        for (int lun = 0; lun < luns; lun++) {
            target = target.withLun(lun, Devices.open(device));
        }
        var server = keep(TargetServer.builder().portal("127.0.0.1", 0).target(target)
                .limits(ServerLimits.DEFAULT.withCommandsPerSession(DEPTH)).loops(1).start());
        return SessionOptions.of("127.0.0.1", server.portals().getFirst().getPort(), TARGET)
                .withQueueDepth(DEPTH).withTimeouts(Timeouts.DEFAULT.withCommandMs(300_000));
    }

    private Initiator initiator() throws IOException {
        return keep(Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:much")));
    }

    /** Platform threads, but for those that carry the virtual ones: of these there are as many as processors. */
    private static Set<Thread> threads() {
        var threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> thread.getName().startsWith("ForkJoinPool")
                || thread.getName().startsWith("VirtualThread"));
        return threads;
    }

    /** A block that no other place, LUN or round has. */
    private static void mark(MemorySegment block, long number) {
        for (long at = 0; at < BLOCK; at += Long.BYTES) {
            block.set(ValueLayout.JAVA_LONG, at, ~number * 0x9e37_79b9_7f4a_7c15L + at);
        }
    }

    /** Writes to all at once, then reads from all at once, and looks at what came. */
    private static void useAll(List<? extends BlockDevice> luns, int round) {
        try (Arena arena = Arena.ofShared()) {
            var written = new ArrayList<MemorySegment>();
            var ends = new ArrayList<CompletableFuture<Void>>();
            for (int lun = 0; lun < luns.size(); lun++) {
                written.add(arena.allocate(BLOCK, BLOCK));
                mark(written.getLast(), 1000L * round + lun);
                ends.add(luns.get(lun).submitWrite(round, written.getLast()));
            }
            ends.forEach(CompletableFuture::join);
            var read = new ArrayList<MemorySegment>();
            var answers = new ArrayList<CompletableFuture<Void>>();
            for (BlockDevice lun : luns) {
                read.add(arena.allocate(BLOCK, BLOCK));
                answers.add(lun.submitRead(round, read.getLast()));
            }
            answers.forEach(CompletableFuture::join);
            for (int lun = 0; lun < luns.size(); lun++) {
                assertThat(read.get(lun).mismatch(written.get(lun))).as("LUN %d", lun)
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldNeedNoThreadForALunOfASession() throws Exception {
        SessionOptions login = serve(LUNS, "ram:64KiB");
        Session session = keep(initiator().login(login));
        useAll(List.of(session.open(Lun.of(0))), 0);
        Set<Thread> before = threads();

        var luns = new ArrayList<BlockDevice>();
        for (int lun = 0; lun < LUNS; lun++) {
            luns.add(session.open(Lun.of(lun)));
        }
        for (int round = 1; round < 5; round++) {
            useAll(luns, round);
        }

        assertThat(threads()).isSubsetOf(before);
    }

    @Test
    void shouldNeedNoThreadForASession() throws Exception {
        SessionOptions login = serve(LUNS, "ram:64KiB");
        Initiator initiator = initiator();
        useAll(List.of(keep(MultipathDevice.open(initiator,
                MultipathOptions.of(List.of(login), Lun.of(0))))), 0);
        Set<Thread> before = threads();

        var luns = new ArrayList<BlockDevice>();
        for (int lun = 0; lun < LUNS; lun++) {
            luns.add(keep(MultipathDevice.open(initiator,
                    MultipathOptions.of(List.of(login), Lun.of(lun)))));
        }
        for (int round = 1; round < 5; round++) {
            useAll(luns, round);
        }

        assertThat(threads()).isSubsetOf(before);
    }

    /** 64 threads with 1,024 requests each, of which the target has as many as its window lets it. */
    @Test
    void shouldServeManyThreadsWithManyRequestsEach() throws Exception {
        SessionOptions login = serve(1, "ram:" + THREADS * DEPTH * BLOCK);
        BlockDevice lun = keep(keep(initiator().login(login)).open(Lun.of(0)));

        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            var all = new ArrayList<Callable<Void>>();
            for (int i = 0; i < THREADS; i++) {
                int first = i * DEPTH;
                all.add(() -> {
                    writeAndRead(lun, first);
                    return null;
                });
            }
            for (Future<Void> one : threads.invokeAll(all)) {
                one.get();
            }
        }
    }

    private static void writeAndRead(BlockDevice lun, int first) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment written = arena.allocate((long) DEPTH * BLOCK, BLOCK);
            MemorySegment read = arena.allocate((long) DEPTH * BLOCK, BLOCK);
            var ends = new ArrayList<CompletableFuture<Void>>();
            for (int i = 0; i < DEPTH; i++) {
                MemorySegment block = written.asSlice((long) i * BLOCK, BLOCK);
                mark(block, first + i);
                ends.add(lun.submitWrite(first + i, block));
            }
            ends.forEach(CompletableFuture::join);
            var answers = new ArrayList<CompletableFuture<Void>>();
            for (int i = DEPTH - 1; i >= 0; i--) {
                answers.add(lun.submitRead(first + i, read.asSlice((long) i * BLOCK, BLOCK)));
            }
            answers.forEach(CompletableFuture::join);
            assertThat(read.mismatch(written)).as("from block %d on", first).isEqualTo(-1);
        }
    }
}
