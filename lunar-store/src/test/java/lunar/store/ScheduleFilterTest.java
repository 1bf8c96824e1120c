package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.AbortedException;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.filter.FaultFilter;
import lunar.filter.FaultPlan;
import lunar.filter.RequestScheduler;
import lunar.filter.ScheduleFilter;
import lunar.filter.ScheduleOptions;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;

class ScheduleFilterTest {
    private static final ScheduleOptions FIFO = ScheduleOptions.of(RequestScheduler.fifo());
    private static final ScheduleOptions ELEVATOR = ScheduleOptions
            .of(RequestScheduler.elevator(Duration.ofHours(1)));
    private static final ScheduleOptions MERGING = FIFO.withDepth(1).withMergeBytes(8 * 512);

    private final SteppedDevice below = new SteppedDevice(128);

    private static MemorySegment filled(int blocks, int value) {
        return MemorySegment.ofArray(new byte[512 * blocks]).fill((byte) value);
    }

    private List<Long> pendingLbas() {
        return below.pending().stream().map(step -> step.request().lba()).toList();
    }

    /** Ends one request after another and returns them in the order in which they reached the device. */
    private List<String> drain() {
        var seen = new ArrayList<String>();
        while (!below.pending().isEmpty()) {
            SteppedDevice.Step step = below.pending().getFirst();
            BlockRequest request = step.request();
            seen.add(request.operation() + " " + request.lba() + "+" + request.blockCount());
            step.end();
        }
        return seen;
    }

    @Test
    void shouldCompleteRequestsLikeTheDeviceInAnyOrder() throws Exception {
        long first = Seed.next();
        long merged = 0;
        for (int i = 0; i < 100; i++) {
            ScheduleOptions options = (i % 2 == 0 ? FIFO : ELEVATOR).withDepth(1 + i % 5)
                    .withMergeBytes(i % 3 * 8 * 512L);
            var play = new Interleaving(first + i, device -> new ScheduleFilter(device, options),
                    false);
            assertThat(play.run(400)).isGreaterThan(50);
            merged += ((ScheduleFilter) play.device()).statistics().merged();
        }
        assertThat(merged).as("seed %d: what is tested must occur", first).isGreaterThan(100);
    }

    @Test
    void shouldUseExactlyItsQueueDepth() throws Exception {
        var device = new ScheduleFilter(below, FIFO.withDepth(3));
        for (int lba = 0; lba < 10; lba++) {
            CompletableFuture<Void> _ = device.submitRead(lba, filled(1, 0));
        }
        assertThat(pendingLbas()).containsExactly(0L, 1L, 2L);
        assertThat(device.statistics().waiting()).isEqualTo(7);
        below.pending().get(1).end();
        assertThat(pendingLbas()).containsExactly(0L, 2L, 3L);
        assertThat(drain()).hasSize(9);
        assertThat(device.statistics()).isEqualTo(new ScheduleFilter.Statistics(10, 0, 0));
    }

    @Test
    void shouldSweepOverTheBlocksInOneDirection() {
        var device = new ScheduleFilter(below, ELEVATOR.withDepth(1));
        for (long lba : new long[]{50, 10, 90, 60, 20, 55}) {
            CompletableFuture<Void> _ = device.submitRead(lba, filled(1, 0));
        }
        assertThat(drain()).containsExactly("READ 50+1", "READ 55+1", "READ 60+1", "READ 90+1",
                "READ 10+1", "READ 20+1");
    }

    @Test
    void shouldSendAFlushBeforeWhatWaits() {
        var device = new ScheduleFilter(below, FIFO.withDepth(1));
        CompletableFuture<Void> _ = device.submitWrite(0, filled(1, 1));
        CompletableFuture<Void> _ = device.submitWrite(1, filled(1, 1));
        CompletableFuture<Void> _ = device.submitFlush();
        assertThat(drain()).containsExactly("WRITE 0+1", "FLUSH 0+0", "WRITE 1+1");
    }

    @Test
    void shouldMergeNeighboursThatWaitUpToTheLimit() throws Exception {
        var device = new ScheduleFilter(below, MERGING);
        var all = new ArrayList<CompletableFuture<Void>>();
        for (int lba = 0; lba < 12; lba++) {
            all.add(device.submitWrite(lba, filled(1, lba)));
        }
        CompletableFuture<Void> forced = device
                .submitFuture(new BlockRequest().asWrite(12, 1, filled(1, 12), true));
        MemorySegment read = filled(2, 0);
        all.add(device.submitRead(8, read.asSlice(512)));
        all.add(device.submitRead(7, read.asSlice(0, 512)));
        assertThat(drain()).as("what differs in FUA or operation does not go together")
                .containsExactly("WRITE 0+1", "WRITE 1+8", "WRITE 9+3", "WRITE 12+1", "READ 8+1",
                        "READ 7+1");
        assertThat(all).allMatch(CompletableFuture::isDone);
        assertThat(forced).isCompleted();
        for (int lba = 0; lba < 13; lba++) {
            assertThat(below.content().get(ValueLayout.JAVA_BYTE, lba * 512L + 99))
                    .isEqualTo((byte) lba);
        }
        assertThat(read.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
        assertThat(read.get(ValueLayout.JAVA_BYTE, 512)).isEqualTo((byte) 8);
        assertThat(device.statistics().merged()).isEqualTo(9);
    }

    @Test
    void shouldDeliverToEachPartOfAMergedReadItsOwnBlocks() {
        for (int lba = 0; lba < 128; lba++) {
            below.content().asSlice(lba * 512L, 512).fill((byte) lba);
        }
        var device = new ScheduleFilter(below, MERGING);
        var buffers = new ArrayList<MemorySegment>();
        CompletableFuture<Void> _ = device.submitRead(100, filled(1, 0));
        for (int lba = 10; lba < 16; lba += 2) {
            buffers.add(filled(2, 0));
            CompletableFuture<Void> _ = device.submitRead(lba, buffers.getLast());
        }
        assertThat(drain()).containsExactly("READ 100+1", "READ 10+6");
        for (int i = 0; i < 3; i++) {
            assertThat(buffers.get(i).get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) (10 + 2 * i));
            assertThat(buffers.get(i).get(ValueLayout.JAVA_BYTE, 1023))
                    .isEqualTo((byte) (11 + 2 * i));
        }
    }

    @Test
    void shouldFailOnlyThePartOfAMergedRequestThatFailsByItself() {
        var device = new ScheduleFilter(new FaultFilter(below, FaultPlan.NONE.withRange(3, 3), 1),
                MERGING);
        var parts = new ArrayList<CompletableFuture<Void>>();
        for (int lba = 0; lba < 6; lba++) {
            parts.add(device.submitWrite(lba, filled(1, 5)));
        }
        drain();
        for (int lba = 0; lba < 6; lba++) {
            if (lba == 3) {
                assertThat(parts.get(lba).exceptionNow()).isInstanceOf(MediumException.class);
            } else {
                assertThat(parts.get(lba)).as("part %d", lba).isCompleted();
            }
        }
    }

    @Test
    void shouldRejectOnlyTheBufferThatCannotBeUsed() {
        var device = new ScheduleFilter(below, MERGING);
        CompletableFuture<Void> _ = device.submitWrite(0, filled(1, 1));
        CompletableFuture<Void> good = device.submitWrite(1, filled(1, 1));
        CompletableFuture<Void> bad;
        try (Arena arena = Arena.ofShared()) {
            bad = device.submitWrite(2, arena.allocate(512));
        }
        below.pending().getFirst().end();
        below.pending().getFirst().end();
        assertThat(good).isCompleted();
        assertThatThrownBy(() -> below.pending().getFirst().end())
                .as("it reaches the device by itself").isInstanceOf(IllegalStateException.class);
        assertThat(bad).isNotDone();
    }

    @Test
    void shouldBlockTheCallerUntilItsTurn() throws Exception {
        var device = new ScheduleFilter(below, FIFO.withDepth(1));
        CompletableFuture<Void> _ = device.submitWrite(0, filled(1, 1));
        var thread = Thread.ofPlatform().start(() -> {
            try {
                device.write(1, filled(1, 7));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        while (device.statistics().waiting() == 0) {
            Thread.onSpinWait();
        }
        assertThat(below.content().get(ValueLayout.JAVA_BYTE, 512)).isZero();
        below.endAll();
        assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
        assertThat(below.content().get(ValueLayout.JAVA_BYTE, 512)).isEqualTo((byte) 7);
    }

    @Test
    void shouldEndAnInterruptedWaitingCallAndContinueWithoutIt() throws Exception {
        var device = new ScheduleFilter(below, FIFO.withDepth(1));
        CompletableFuture<Void> _ = device.submitWrite(0, filled(1, 1));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> device.write(1, filled(1, 7)))
                .isInstanceOf(AbortedException.class);
        assertThat(Thread.interrupted()).isTrue();
        CompletableFuture<Void> last = device.submitWrite(2, filled(1, 1));
        assertThat(drain()).containsExactly("WRITE 0+1", "WRITE 2+1");
        assertThat(last).isCompleted();
    }

    @Test
    void shouldFailWaitingRequestsOnClose() throws Exception {
        var device = new ScheduleFilter(below, FIFO.withDepth(1));
        CompletableFuture<Void> below1 = device.submitWrite(0, filled(1, 1));
        CompletableFuture<Void> waits = device.submitWrite(1, filled(1, 1));
        var failure = new AtomicReference<Throwable>();
        var thread = Thread.ofPlatform().start(() -> {
            try {
                device.flush();
            } catch (IOException e) {
                failure.set(e);
            }
        });
        while (device.statistics().waiting() < 2) {
            Thread.onSpinWait();
        }
        device.close();
        for (CompletableFuture<Void> one : List.of(below1, waits)) {
            assertThat(one.exceptionNow()).isInstanceOf(DeviceGoneException.class);
        }
        assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
        assertThat(failure.get()).isInstanceOf(DeviceGoneException.class);
    }

    @Test
    void shouldNotGrowTheStackWithQueuedRequestsToASynchronousDevice() throws Exception {
        var device = new ScheduleFilter(MemoryDevice.create(1 << 20, 512), FIFO.withDepth(1));
        var chain = new CompletableFuture<Void>();
        CompletableFuture<Void> _ = device.submitRead(0, filled(1, 0))
                .thenRun(() -> { // while it dispatches, so that all of these wait
                    CompletableFuture<?>[] all = new CompletableFuture<?>[20_000];
                    for (int i = 0; i < all.length; i++) {
                        all[i] = device.submitRead(i % 1000, filled(1, 0));
                    }
                    CompletableFuture.allOf(all).thenRun(() -> chain.complete(null));
                });
        chain.get(60, TimeUnit.SECONDS);
        assertThat(device.statistics().passedOn()).isEqualTo(20_001);
    }

    @Test
    void shouldNotScheduleWhatBreaksARule() {
        var device = new ScheduleFilter(below, FIFO);
        assertThat(device.submitRead(128, filled(1, 0))).isCompletedExceptionally();
        assertThat(device.statistics().passedOn()).isZero();
    }
}
