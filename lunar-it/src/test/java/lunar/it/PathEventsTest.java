package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.multipath.PathEvent;
import lunar.initiator.multipath.PathListener;
import lunar.iscsi.LoginException;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.scsi.primary.TargetPortGroups;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests events of paths, and how soon a path is retried. */
class PathEventsTest {
    private static final int MIN_MS = 8;
    private static final int MAX_MS = 400;

    /** All events, one line each. */
    private static final class Diary implements PathListener {
        private final Queue<String> lines = new ConcurrentLinkedQueue<>();
        private final Queue<Long> waits = new ConcurrentLinkedQueue<>();
        private final Queue<Exception> causes = new ConcurrentLinkedQueue<>();
        private final Queue<TargetAddress> places = new ConcurrentLinkedQueue<>();

        @Override
        public void changed(PathEvent event) {
            lines.add(event.path().index() + " " + event.after());
        }

        @Override
        public void accessChanged(Path path, TargetPortGroups.State before,
                TargetPortGroups.State after) {
            lines.add(path.index() + " from " + before + " to " + after);
        }

        @Override
        public void redirected(Path path, TargetAddress to) {
            lines.add(path.index() + " redirected");
            places.add(to);
        }

        @Override
        public void retrying(Path path, long waitMs, Exception why) {
            lines.add(path.index() + " retrying");
            waits.add(waitMs);
            causes.add(why);
        }

        @Override
        public void held(BlockDevice unit) { lines.add("held"); }

        @Override
        public void gaveUp(BlockDevice unit, DeviceGoneException why) { lines.add("gave up"); }

        @Override
        public void resumed(BlockDevice unit, long outageMs) { lines.add("resumed"); }

        List<String> ofRequests() {
            return lines.stream().filter(line -> !Character.isDigit(line.charAt(0))).toList();
        }
    }

    private final Diary diary = new Diary();

    private static ServedTarget served(int time2WaitSeconds) throws IOException {
        return ServedTarget.of(UnaryOperator.identity(),
                server -> server
                        .offer(TargetServer.DEFAULT_OFFER
                                .withDefaultTime2WaitSeconds(time2WaitSeconds))
                        .portal(PortalSpec.of(new InetSocketAddress("127.0.0.1", 0)).withGroup(2)),
                "ram:1MiB");
    }

    private static int port(ServedTarget target) {
        return target.server().portals().getFirst().getPort();
    }

    private MultipathOptions by(Integer... ports) {
        return MultipathOptions.of(List.of(ports).stream()
                .map(port -> SessionOptions.of("127.0.0.1", port, ServedTarget.NAME)
                        .withOffer(Offer.DEFAULT.withDefaultTime2WaitSeconds(0)))
                .toList(), Lun.ZERO).withPauses(MIN_MS, MAX_MS).withListener(diary);
    }

    private static Initiator initiator() {
        return Initiator.create("iqn.2026-11.org.lunar:events");
    }

    private static void read(BlockDevice device) throws StorageException {
        device.read(0, MemorySegment.ofArray(new byte[512]));
    }

    private static Path path(MultipathDevice device, int index) {
        return device.paths().get(index);
    }

    @ParameterizedTest
    @CsvSource({"3, 0, true", "3, 1, true", "3, 2, true", "3, 77, true", "2, 3, true",
            "2, 6, true", "2, 0, false", "2, 1, false", "2, 2, false", "2, 4, false",
            "2, 77, false"})
    void shouldRetrySoonIfWaitingHelpsAndRarelyOtherwise(int statusClass, int detail,
            boolean soon) throws Exception {
        try (var target = served(0);
                var refusing = ScriptedTarget.start(peer -> {
                    var request = peer.receive(LoginRequest.class);
                    peer.send(peer.loginResponse(request, false, statusClass, detail));
                    peer.awaitEnd();
                });
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(port(target), refusing.port()))) {
            ServedTarget.await("tries", () -> diary.waits.size() >= 3);
            read(device); // by the other path
            List<Long> waits = List.copyOf(diary.waits);
            assertThat(IntStream.range(0, 3)).allSatisfy(i -> {
                if (soon) {
                    assertThat(waits.get(i)).isBetween((MIN_MS << i) / 2L, (long) MIN_MS << i);
                } else {
                    assertThat(waits.get(i)).isBetween(MAX_MS / 2L, (long) MAX_MS);
                }
            });
            assertThat(diary.causes).allSatisfy(why -> assertThat(why)
                    .isInstanceOfSatisfying(LoginException.class, refused -> {
                        assertThat(refused.statusClass()).isEqualTo(statusClass);
                        assertThat(refused.statusDetail()).isEqualTo(detail);
                    }));
            assertThat(path(device, 1).state()).isEqualTo(Path.State.CONNECTING);
        }
    }

    @Test
    void shouldWaitAsLongAsTheTargetWantsIt() throws Exception {
        try (var target = served(1);
                var proxy = new CutProxy(port(target));
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(proxy.port()))) {
            long cutNanos = System.nanoTime();
            proxy.cut();
            ServedTarget.await("the loss", () -> diary.lines.contains("0 retrying"));
            ServedTarget.await("the next login",
                    () -> path(device, 0).state() == Path.State.UP);
            assertThat(System.nanoTime() - cutNanos).as("DefaultTime2Wait is a second")
                    .isGreaterThanOrEqualTo(1_000_000_000L);
            assertThat(diary.waits).containsExactly(1000L);
            assertThat(diary.causes.peek()).hasMessageContaining("is lost");
        }
    }

    @Test
    void shouldReportRequestsThatWaitAndFail() throws Exception {
        try (var target = served(0);
                var proxy = new CutProxy(port(target));
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(proxy.port()).withNoPathMs(300))) {
            proxy.breakDown();
            assertThatThrownBy(() -> read(device)).isInstanceOf(DeviceGoneException.class);
            assertThatThrownBy(() -> device.submitFlush().join())
                    .hasCauseInstanceOf(DeviceGoneException.class);
            proxy.mend();
            ServedTarget.await("all is told", () -> diary.lines.contains("resumed"));
            read(device);
            assertThat(diary.ofRequests()).containsExactly("held", "gave up", "resumed");
        }
        assertThat(List.copyOf(diary.lines)).as("told before close returns").endsWith("0 CLOSED");
    }

    @Test
    void shouldGiveUpWhereCallersOccupyTheCommonPool() throws Exception {
        var pool = ForkJoinPool.commonPool();
        try (var target = served(0);
                var proxy = new CutProxy(port(target));
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(proxy.port()).withNoPathMs(300))) {
            proxy.breakDown();
            List<ForkJoinTask<Boolean>> readers = IntStream.range(0, 4 * pool.getParallelism())
                    .mapToObj(_ -> pool.submit(() -> {
                        assertThatThrownBy(() -> read(device))
                                .isInstanceOf(DeviceGoneException.class);
                        return true;
                    })).toList();
            for (ForkJoinTask<Boolean> reader : readers) {
                assertThat(reader.get(60, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    @Test
    void shouldReportRequestsThatWaitAndContinue() throws Exception {
        try (var target = served(0);
                var proxy = new CutProxy(port(target));
                var initiator = initiator();
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var device = MultipathDevice.open(initiator,
                        by(proxy.port()).withNoPathMs(MultipathOptions.FOREVER))) {
            for (int i = 1; i < 4; i++) {
                proxy.breakDown();
                ServedTarget.await("loss", () -> path(device, 0).state() != Path.State.UP);
                var submitted = device.submitFlush();
                var executed = threads.submit(() -> {
                    read(device);
                    return true;
                });
                int held = i;
                ServedTarget.await("held", () -> diary.ofRequests().stream()
                        .filter("held"::equals).count() == held);
                proxy.mend();
                submitted.join();
                assertThat(executed.get()).isTrue();
            }
            ServedTarget.await("all is told", () -> diary.ofRequests().size() == 6);
            assertThat(diary.ofRequests()).containsExactly("held", "resumed", "held", "resumed",
                    "held", "resumed");
        }
    }

    @Test
    void shouldReportFailuresAtOnceWhereNothingIsToWait() throws Exception {
        try (var target = served(0);
                var proxy = new CutProxy(port(target));
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(proxy.port()).withNoPathMs(0))) {
            proxy.breakDown();
            assertThatThrownBy(() -> {
                while (true) { // until the loss is known
                    read(device);
                }
            }).isInstanceOf(DeviceGoneException.class);
            ServedTarget.await("told", () -> diary.lines.contains("gave up"));
            assertThat(diary.ofRequests()).containsExactly("gave up");
        }
    }

    @Test
    void shouldReportAccessStates() throws Exception {
        try (var target = served(0);
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(port(target),
                        target.server().portals().get(1).getPort()))) {
            ServedTarget.await("both paths",
                    () -> device.paths().stream().allMatch(p -> p.state() == Path.State.UP));
            target.server().changeAccess(ServedTarget.NAME, 2, TargetPortGroups.State.STANDBY);
            ServedTarget.await("standby", () -> {
                try {
                    read(device);
                    return diary.lines.contains("1 PASSIVE");
                } catch (StorageException e) {
                    throw new AssertionError(e);
                }
            });
            ServedTarget.await("told", () -> diary.lines
                    .contains("1 from ACTIVE_OPTIMIZED to STANDBY"));
            target.server().changeAccess(ServedTarget.NAME, 2,
                    TargetPortGroups.State.ACTIVE_NON_OPTIMIZED);
            ServedTarget.await("back", () -> diary.lines
                    .contains("1 from STANDBY to ACTIVE_NON_OPTIMIZED"));
        }
    }

    @Test
    void shouldReportWhereALoginWasSent() throws Exception {
        try (var target = served(0);
                var proxy = new CutProxy(port(target));
                var moved = ScriptedTarget.start(peer -> {
                    var request = peer.receive(LoginRequest.class);
                    peer.send(peer.loginResponse(request, false, 1, 1),
                            ("TargetAddress=127.0.0.1:" + proxy.port() + "\0")
                                    .getBytes(StandardCharsets.UTF_8));
                    peer.awaitEnd();
                });
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(moved.port()))) {
            proxy.cut();
            ServedTarget.await("the loss", () -> diary.lines.contains("0 retrying"));
            ServedTarget.await("another login",
                    () -> path(device, 0).state() == Path.State.UP);
            read(device);
            assertThat(path(device, 0).portal().port()).isEqualTo(moved.port());
            assertThat(diary.places).as("told once, for it is the same place again")
                    .extracting(TargetAddress::port).containsExactly(proxy.port());
            assertThat(diary.lines).startsWith("0 redirected", "0 UP");
        }
    }

    @Test
    void shouldLetAListenerCloseTheUnit() throws Exception {
        var closed = new ConcurrentLinkedQueue<Boolean>();
        try (var target = served(0);
                var proxy = new CutProxy(port(target));
                var initiator = initiator();
                var device = MultipathDevice.open(initiator, by(proxy.port())
                        .withNoPathMs(MultipathOptions.FOREVER).withListener(new PathListener() {
                            @Override
                            public void changed(PathEvent event) {
                                throw new IllegalStateException("of no consequence");
                            }

                            @Override
                            public void held(BlockDevice unit) {
                                try {
                                    unit.close();
                                } catch (StorageException e) {
                                    throw new UncheckedIOException(e);
                                }
                                closed.add(true);
                            }
                        }))) {
            proxy.breakDown();
            assertThatThrownBy(() -> read(device)).isInstanceOf(DeviceGoneException.class);
            ServedTarget.await("closed", () -> !closed.isEmpty());
        }
    }
}
