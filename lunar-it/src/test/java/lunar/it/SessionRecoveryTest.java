package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionNotice;
import lunar.initiator.SessionOptions;
import lunar.iscsi.DigestChoice;
import lunar.iscsi.Offer;
import lunar.scsi.Lun;
import lunar.target.TargetServer;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One session that outlives its connections: several of them, and error recovery levels 1 and 2, at a target of ours
 * behind a proxy that cuts connections in the middle of PDUs and changes bytes.
 */
@Timeout(120)
class SessionRecoveryTest {
    private static final int BLOCK = 512;
    private static final int WORKERS = 8;

    private final Queue<SessionNotice> notices = new ConcurrentLinkedQueue<>();

    private static ServedTarget served() throws IOException {
        return ServedTarget.of(UnaryOperator.identity(),
                server -> server.offer(TargetServer.DEFAULT_OFFER.with(offer -> offer
                        .maxConnections(4).errorRecoveryLevel(2).defaultTime2WaitSeconds(0))),
                "ram:64MiB");
    }

    private static int port(ServedTarget target) {
        return target.server().portals().getFirst().getPort();
    }

    private static SessionOptions options(CutProxy proxy, int connections, int level,
            UnaryOperator<Offer.Builder> more) {
        return SessionOptions.of("127.0.0.1", proxy.port(), ServedTarget.NAME)
                .withConnections(connections).withErrorRecoveryLevel(level)
                .withOffer(Offer.DEFAULT.with(offer -> more.apply(offer.errorRecoveryLevel(level)
                        .defaultTime2WaitSeconds(0))));
    }

    private Initiator initiator() {
        return Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:recovery")
                .withLoopCount(2).withListener((_, notice) -> notices.add(notice)));
    }

    private long count(Class<? extends SessionNotice> kind) {
        return notices.stream().filter(kind::isInstance).count();
    }

    /** Writes and reads its own blocks, of sizes from one block to several bursts, and compares. */
    private static Future<Integer> work(BlockDevice device, int worker, long seed,
            AtomicBoolean enough) {
        var done = new CompletableFuture<Integer>();
        Thread.ofVirtual().start(() -> {
            int rounds = 0;
            var random = new Random(seed + worker);
            try (Arena arena = Arena.ofShared()) {
                MemorySegment out = arena.allocate(2 << 20);
                MemorySegment in = arena.allocate(2 << 20);
                while (!enough.get()) {
                    int blocks = 1 << random.nextInt(13);
                    long lba = worker * 8192L + random.nextInt(8192 - blocks);
                    MemorySegment wrote = out.asSlice(0, (long) blocks * BLOCK);
                    MemorySegment read = in.asSlice(0, (long) blocks * BLOCK);
                    wrote.fill((byte) random.nextInt());
                    device.write(lba, wrote);
                    read.fill((byte) 0);
                    device.read(lba, read);
                    if (read.mismatch(wrote) >= 0) {
                        throw new AssertionError("block " + lba + " is not what was written");
                    }
                    rounds++;
                }
                done.complete(rounds);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }

    /** Has workers verify while something happens again and again; the session stays the same. */
    private void holds(SessionOptions options, int times, Consumer<Random> misfortune)
            throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        try (var initiator = initiator();
                Session session = initiator.login(options);
                LunDevice device = session.open(Lun.ZERO)) {
            assertThat(session.connectionCount()).isEqualTo(options.connections());
            var enough = new AtomicBoolean();
            List<Future<Integer>> workers = IntStream.range(0, WORKERS)
                    .mapToObj(worker -> work(device, worker, seed, enough)).toList();
            for (int i = 0; i < times; i++) {
                Thread.sleep(50 + random.nextInt(100));
                misfortune.accept(random);
            }
            enough.set(true);
            for (Future<Integer> worker : workers) {
                assertThat(worker.get(60, TimeUnit.SECONDS)).isPositive();
            }
            assertThat(session.isOpen()).isTrue();
            ServedTarget.await("its connections",
                    () -> session.connectionCount() == options.connections());
        }
        assertThat(count(SessionNotice.Ended.class)).isOne();
    }

    @Test
    void shouldSpreadCommandsOverConnections() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 4, 0, UnaryOperator.identity()), 5,
                    _ -> assertThat(proxy.count()).isEqualTo(4));
            assertThat(count(SessionNotice.ConnectionLost.class)).isZero();
        }
    }

    @Test
    void shouldMoveTasksToAnotherConnectionAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 4, 2, UnaryOperator.identity()), 30, proxy::cutOneInside);
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
            assertThat(notices).anySatisfy(notice -> assertThat(notice)
                    .isInstanceOfSatisfying(SessionNotice.TasksMoved.class,
                            moved -> assertThat(moved.reassigned()).isPositive()));
        }
    }

    @Test
    void shouldMoveTasksToAConnectionMadeAnewAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 1, 2, UnaryOperator.identity()), 30, proxy::cutOneInside);
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
        }
    }

    @Test
    void shouldSurviveTheLossOfAllConnectionsAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 3, 2, UnaryOperator.identity()), 20, proxy::cutInside);
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
        }
    }

    @Test
    void shouldSendAgainWhatAConnectionLostBelowLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            var random = new Random(Seed.next());
            holds(options(proxy, 4, 0, UnaryOperator.identity()), 20, _ -> {
                if (proxy.count() == 4) { // the last one would end the session
                    proxy.cutOneInside(random);
                }
            });
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
        }
    }

    @Test
    void shouldMakeGoodWhateverIsDamagedAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            // Damaged data are asked for again; a damaged header ends its connection, whose tasks are moved.
            holds(options(proxy, 2, 2, offer -> offer.headerDigest(DigestChoice.REQUIRE_CRC32C)
                    .dataDigest(DigestChoice.REQUIRE_CRC32C)), 60, proxy::damageOne);
            assertThat(count(SessionNotice.AskedAgain.class)).isPositive();
        }
    }
}
