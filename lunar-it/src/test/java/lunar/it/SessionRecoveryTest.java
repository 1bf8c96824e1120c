package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionNotice;
import lunar.initiator.SessionOptions;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.target.TargetServer;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/**
 * Tests a session that outlives its connections: several of them, and error recovery levels 1 and 2, at Lunar's target
 * behind a proxy that cuts connections in the middle of PDUs and changes bytes.
 */
class SessionRecoveryTest {
    private static final int WORKERS = 8;
    /** How much longer it may take on a loaded machine until something has its effect. */
    private static final int MOST = 20;

    private final Queue<SessionNotice> notices = new ConcurrentLinkedQueue<>();

    private static ServedTarget served() throws IOException {
        return ServedTarget.of(UnaryOperator.identity(),
                server -> server.offer(TargetServer.DEFAULT_OFFER
                        .withMaxConnections(4).withErrorRecoveryLevel(2)
                        .withDefaultTime2WaitSeconds(0)),
                "ram:64MiB");
    }

    private static int port(ServedTarget target) {
        return target.server().portals().getFirst().getPort();
    }

    private static SessionOptions options(CutProxy proxy, int connections, int level,
            UnaryOperator<Offer> more) {
        return SessionOptions.of("127.0.0.1", proxy.port(), ServedTarget.NAME)
                .withConnections(connections).withErrorRecoveryLevel(level)
                .withOffer(more.apply(Offer.DEFAULT.withErrorRecoveryLevel(level)
                        .withDefaultTime2WaitSeconds(0)));
    }

    private Initiator initiator() {
        return Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:recovery")
                .withLoopCount(2).withListener((_, notice) -> notices.add(notice)));
    }

    private long count(Class<? extends SessionNotice> kind) {
        return notices.stream().filter(kind::isInstance).count();
    }

    private boolean hasMovedTasks() { return count(SessionNotice.TasksMoved.class) > 0; }

    /**
     * Has workers verify while something happens again and again, until it has had its effect; the session stays the
     * same.
     */
    private void holds(SessionOptions options, int times, Consumer<Random> misfortune,
            BooleanSupplier effect) throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        try (var initiator = initiator();
                Session session = initiator.login(options);
                LunDevice device = session.open(Lun.ZERO)) {
            assertThat(session.connectionCount()).isEqualTo(options.connections());
            var enough = new AtomicBoolean();
            List<Future<Integer>> workers = IntStream.range(0, WORKERS)
                    .mapToObj(worker -> VerifiedWork.start(device, worker * 8192L, 8192,
                            seed + worker, enough))
                    .toList();
            for (int i = 0; i < times || (!effect.getAsBoolean() && i < MOST * times); i++) {
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
                    _ -> assertThat(proxy.count()).isEqualTo(4), () -> true);
            assertThat(count(SessionNotice.ConnectionLost.class)).isZero();
        }
    }

    @Test
    void shouldSpreadConnectionsOverThePortalsOfTheGroup() throws Exception {
        try (var target = ServedTarget.of(UnaryOperator.identity(), server -> server
                .portal(new InetSocketAddress("127.0.0.1", 0))
                .offer(TargetServer.DEFAULT_OFFER.withMaxConnections(4)),
                "ram:64MiB"); var initiator = initiator()) {
            List<TargetAddress> told = initiator.discover("127.0.0.1:" + port(target)).getFirst()
                    .addresses();
            assertThat(told).hasSize(2);
            TargetAddress elsewhere = new TargetAddress("127.0.0.1", 1, OptionalInt.of(99));
            SessionOptions options = SessionOptions
                    .of("127.0.0.1", port(target), ServedTarget.NAME).withConnections(4)
                    .withOtherPortals(List.of(elsewhere, told.get(0), told.get(1)));
            try (Session session = initiator.login(options);
                    LunDevice device = session.open(Lun.ZERO)) {
                assertThat(session.connectionCount()).isEqualTo(4);
                assertThat(notices.stream().filter(SessionNotice.ConnectionJoined.class::isInstance)
                        .map(SessionNotice.ConnectionJoined.class::cast)
                        .map(joined -> joined.portal().port()).distinct()).hasSize(2);
                device.write(0, MemorySegment.ofArray(new byte[1 << 20]));
            }
        }
    }

    @Test
    void shouldMoveTasksToAnotherConnectionAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 4, 2, UnaryOperator.identity()), 30, proxy::cutOneInside,
                    () -> notices.stream().anyMatch(
                            notice -> notice instanceof SessionNotice.TasksMoved moved
                                    && moved.reassigned() > 0));
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
            assertThat(notices).anySatisfy(notice -> assertThat(notice)
                    .isInstanceOfSatisfying(SessionNotice.TasksMoved.class,
                            moved -> assertThat(moved.reassigned()).isPositive()));
        }
    }

    @Test
    void shouldMoveTasksToAConnectionMadeAnewAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 1, 2, UnaryOperator.identity()), 30, proxy::cutOneInside,
                    this::hasMovedTasks);
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
        }
    }

    @Test
    void shouldSurviveTheLossOfAllConnectionsAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            holds(options(proxy, 3, 2, UnaryOperator.identity()), 20, proxy::cutInside,
                    this::hasMovedTasks);
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
        }
    }

    @Test
    void shouldRetransmitLostCommandsBelowLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            var random = new Random(Seed.next());
            holds(options(proxy, 4, 0, UnaryOperator.identity()), 20, _ -> {
                if (proxy.sound() == 4) { // the last one would end the session
                    proxy.cutOneInside(random);
                }
            }, this::hasMovedTasks);
            assertThat(count(SessionNotice.TasksMoved.class)).isPositive();
        }
    }

    @Test
    void shouldRecoverFromAllDamageAtLevelTwo() throws Exception {
        try (var target = served(); var proxy = new CutProxy(port(target))) {
            // Damaged data are requested again; a damaged header ends its connection, whose tasks are moved.
            holds(options(proxy, 2, 2, offer -> offer.withHeaderDigest(DigestChoice.REQUIRE_CRC32C)
                    .withDataDigest(DigestChoice.REQUIRE_CRC32C)), 60, proxy::damageOne,
                    () -> count(SessionNotice.AskedAgain.class) > 0);
            assertThat(count(SessionNotice.AskedAgain.class)).isPositive();
        }
    }
}
