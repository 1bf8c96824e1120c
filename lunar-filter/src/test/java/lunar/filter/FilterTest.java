package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import org.junit.jupiter.api.Test;

class FilterTest {
    private static final MemorySegment ONES = filled(16, 1);

    @Test
    void shouldFailRequestsAtTheConfiguredRateReproduciblyForASeed()
            throws StorageException {
        List<Integer> first = failing(new FaultFilter(toy(), FaultPlan.errors(0.25), 42));
        assertThat(first).hasSizeBetween(180, 320);
        assertThat(failing(new FaultFilter(toy(), FaultPlan.errors(0.25), 42))).isEqualTo(first);
        assertThat(failing(new FaultFilter(toy(), FaultPlan.NONE, 42))).isEmpty();
        assertThat(failing(new FaultFilter(toy(), FaultPlan.errors(1), 42))).hasSize(1000);
    }

    private static List<Integer> failing(FaultFilter device) throws StorageException {
        List<Integer> failing = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            if (device.submitRead(0, filled(1, 0)).isCompletedExceptionally()) {
                failing.add(i);
            }
        }
        assertThat(device.injected()).isEqualTo(failing.size());
        device.close();
        return failing;
    }

    @Test
    void shouldFailRequestsInABadRangeUntilThePlanChanges()
            throws StorageException {
        var device = new FaultFilter(toy(),
                FaultPlan.NONE.withOperations(Operation.READ).withRange(10, 11).withRange(20, 20),
                1);
        for (long lba : new long[]{9, 10, 11, 20, 19}) {
            assertThatThrownBy(() -> device.read(lba, filled(2, 0)))
                    .isInstanceOf(MediumException.class).hasMessageContaining("lba=" + lba);
        }
        device.read(8, filled(2, 0));
        device.read(12, filled(7, 0));
        device.write(10, ONES);
        device.flush();
        device.plan(FaultPlan.NONE);
        device.read(10, filled(2, 0));
    }

    @Test
    void shouldLoseWhatWasNotFlushedWithTheCache() throws StorageException {
        ToyDevice toy = toy();
        var device = new VolatileFilter(toy);
        device.write(0, filled(1, 1));
        device.flush();
        device.write(0, filled(2, 2));
        device.writeThrough(1, filled(1, 3));
        var before = device.writeVerifier();
        assertThat(contentOf(device, 0)).isEqualTo((byte) 2);
        assertThat(contentOf(toy, 0)).isEqualTo((byte) 1);
        assertThat(device.cachedBlocks()).isEqualTo(1);
        device.dropCache();
        assertThat(contentOf(device, 0)).isEqualTo((byte) 1);
        assertThat(contentOf(device, 1)).isEqualTo((byte) 3);
        assertThat(device.writeVerifier()).isPresent().isNotEqualTo(before);
        assertThat(device.writeLosses()).isEqualTo(1);
        assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
        device.flush();
        device.dropCache();
        assertThat(device.writeLosses()).as("nothing to lose").isEqualTo(1);
        device.flush();
    }

    private static byte contentOf(BlockDevice device, long lba) throws StorageException {
        MemorySegment block = filled(1, 0);
        device.read(lba, block);
        return block.get(ValueLayout.JAVA_BYTE, 0);
    }

    @Test
    void shouldLeaveTheRefusalOfBadRequestsToTheDevice() {
        var device = new FaultFilter(toy(), FaultPlan.errors(1), 1);
        assertThatThrownBy(() -> device.read(100, filled(1, 0)))
                .isInstanceOf(OutOfRangeException.class);
        assertThat(device.submitWrite(-1, filled(1, 0)).exceptionNow())
                .isInstanceOf(OutOfRangeException.class);
    }

    @Test
    void shouldTearAWriteAtAPhysicalBlock() {
        for (int seed = 0; seed < 50; seed++) {
            for (boolean queued : new boolean[]{false, true}) {
                ToyDevice toy = toy();
                var device = new FaultFilter(toy,
                        FaultPlan.errors(1).withKind(FaultPlan.Kind.TORN), seed);
                if (queued) {
                    assertThat(device.submitWrite(4, ONES).exceptionNow())
                            .isInstanceOf(MediumException.class);
                } else {
                    assertThatThrownBy(() -> device.write(4, ONES))
                            .isInstanceOf(MediumException.class);
                }
                long written = toy.content.asSlice(4 * 512).mismatch(ONES);
                assertThat(written).isIn(0L, 4 * 512L, 12 * 512L);
                assertThat(toy.content.asSlice(4 * 512 + written).mismatch(filled(8, 0)))
                        .isIn(-1L, 8 * 512L);
            }
        }
    }

    @Test
    void shouldFindACorruptedReadByItsChecksumAndNameTheBlock() throws StorageException {
        var fault = new FaultFilter(toy(), FaultPlan.NONE, 7);
        var device = new VerifyFilter(fault);
        device.write(30, ONES);
        device.read(28, filled(20, 0));
        fault.plan(FaultPlan.errors(1).withKind(FaultPlan.Kind.CORRUPT));
        assertThatThrownBy(() -> device.read(37, filled(1, 0)))
                .isInstanceOf(MiscompareException.class).hasMessageContaining("block 37");
        assertThat(device.submitRead(37, filled(1, 0)).exceptionNow())
                .isInstanceOf(MiscompareException.class);
        device.read(0, filled(8, 0)); // never written: nobody knows
    }

    @Test
    void shouldFindALostWriteAndBelieveTheNextOne() throws StorageException {
        ToyDevice toy = toy();
        var device = new VerifyFilter(toy);
        device.write(5, filled(3, 7));
        toy.content.set(ValueLayout.JAVA_BYTE, 6 * 512 + 100, (byte) 0);
        assertThatThrownBy(() -> device.read(5, filled(3, 0))).isInstanceOfSatisfying(
                MiscompareException.class, e -> assertThat(e.offsetBytes()).isEqualTo(512));
        device.write(6, filled(1, 8));
        device.read(5, filled(3, 0));
        device.unmap(5, 2);
        device.read(5, filled(3, 0));
        toy.content.set(ValueLayout.JAVA_BYTE, 5 * 512, (byte) 1);
        assertThatThrownBy(() -> device.read(5, filled(1, 0)))
                .isInstanceOf(MiscompareException.class);
    }

    @Test
    void shouldNotVerifyBlocksWhoseWriteFailedOrOverlapped() throws StorageException {
        ToyDevice toy = toy();
        var fault = new FaultFilter(toy, FaultPlan.NONE, 7);
        var device = new VerifyFilter(fault);
        device.write(0, filled(16, 1));
        fault.plan(FaultPlan.errors(1).withKind(FaultPlan.Kind.TORN));
        assertThatThrownBy(() -> device.write(0, filled(16, 2)))
                .isInstanceOf(MediumException.class);
        fault.plan(FaultPlan.NONE);
        device.read(0, filled(16, 0));

        toy.holding = true;
        var one = device.submitWrite(20, filled(2, 3));
        var two = device.submitWrite(21, filled(2, 4));
        toy.held.add(toy.held.remove()); // the second one first
        toy.releaseOne();
        toy.releaseOne();
        assertThat(one).isCompleted();
        assertThat(two).isCompleted();
        device.read(20, filled(3, 0));
        toy.content.set(ValueLayout.JAVA_BYTE, 20 * 512, (byte) 9);
        assertThatThrownBy(() -> device.read(20, filled(1, 0)))
                .isInstanceOf(MiscompareException.class);
    }

    @Test
    void shouldStillKnowABlockAfterACompareAndWriteThatMiscompared() throws StorageException {
        ToyDevice toy = toy();
        var device = new VerifyFilter(toy);
        device.write(3, filled(1, 5));
        assertThatThrownBy(() -> device.compareAndWrite(3, filled(2, 6)))
                .isInstanceOf(MiscompareException.class);
        device.read(3, filled(1, 0));
        toy.content.set(ValueLayout.JAVA_BYTE, 3 * 512, (byte) 9);
        assertThatThrownBy(() -> device.read(3, filled(1, 0)))
                .isInstanceOf(MiscompareException.class).hasMessageContaining("block 3");
    }

    @Test
    void shouldDelayARequestWithoutBlockingTheSubmitterAndFailItOnClose()
            throws StorageException {
        ToyDevice toy = toy();
        var device = new DelayFilter(toy, Duration.ofMinutes(10), Duration.ZERO, 1);
        var future = device.submitWrite(0, ONES);
        assertThat(future).isNotDone();
        device.close();
        assertThat(future.exceptionNow()).isInstanceOf(DeviceGoneException.class);
        assertThat(toy.closed).isTrue();
        assertThat(toy.content.mismatch(filled(64, 0))).isEqualTo(-1);
    }

    @Test
    void shouldPassADelayedRequestOn() throws Exception {
        ToyDevice toy = toy();
        try (var device = new DelayFilter(toy, Duration.ofMillis(1), Duration.ofMillis(1), 1)) {
            device.submitWrite(0, ONES).get(60, TimeUnit.SECONDS);
            device.write(20, ONES);
        }
        assertThat(toy.content.asSlice(0, ONES.byteSize()).mismatch(ONES)).isEqualTo(-1);
        assertThat(toy.content.asSlice(20 * 512, ONES.byteSize()).mismatch(ONES)).isEqualTo(-1);
    }

    @Test
    void shouldEndADelayedCallWhenItsThreadIsInterrupted() {
        var device = new DelayFilter(toy(), Duration.ofMinutes(10), Duration.ZERO, 1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(device::flush).isInstanceOf(AbortedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldDrawDelaysBetweenTheFixedAndTheLongestOne() {
        var device = new DelayFilter(toy(), Duration.ofMillis(5), Duration.ofMillis(2), 3);
        for (int i = 0; i < 100; i++) {
            assertThat(device.delayNanos(new BlockRequest())).isBetween(5_000_000L, 7_000_000L);
        }
        assertThatThrownBy(() -> new DelayFilter(toy(), Duration.ofMillis(-1), Duration.ZERO, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldDelayRequestsAboveTheThrottle() throws StorageException {
        ToyDevice toy = toy();
        var device = new ThrottleFilter(toy, 1024, ThrottleFilter.UNLIMITED);
        device.write(0, filled(64, 1)); // 32 seconds' worth, taken on credit
        var future = device.submitWrite(32, ONES);
        assertThat(future).isNotDone();
        device.close();
        assertThat(future).isCompletedExceptionally();
        assertThatThrownBy(() -> new ThrottleFilter(toy, 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReportEveryRequestAndItsCompletionToTheListener() throws StorageException {
        List<String> traces = new ArrayList<>();
        var micros = new AtomicLong();
        var device = new TraceFilter(toy(), trace -> {
            micros.addAndGet(trace.micros());
            traces.add(trace.toString().replaceAll("us=\\d+ ", ""));
        });
        device.write(1, filled(2, 1));
        assertThatThrownBy(() -> device.read(64, filled(1, 0)))
                .isInstanceOf(OutOfRangeException.class);
        assertThat(device.submitFlush()).isCompleted();
        assertThat(device.submitRead(63, filled(2, 0))).isCompletedExceptionally();
        assertThat(traces).containsExactly("WRITE lba=1 blocks=2 ok",
                "READ lba=64 blocks=1 OutOfRangeException", "FLUSH lba=0 blocks=0 ok",
                "READ lba=63 blocks=2 OutOfRangeException");
        assertThat(micros.get()).isNotNegative();
    }

    @Test
    void shouldMatchTheDeviceBelowExceptForLostWrites() throws StorageException {
        var toy = new ToyDevice(64, Capability.NON_BLOCKING, Capability.UNMAP,
                Capability.TRANSFER_TO);
        toy.readOnly = true;
        var delay = new DelayFilter(toy, Duration.ZERO, Duration.ZERO, 1);
        assertThat(delay.capabilities()).containsExactly(Capability.UNMAP);
        assertThat(new FaultFilter(toy, FaultPlan.NONE, 1).capabilities())
                .containsExactlyInAnyOrder(Capability.UNMAP, Capability.NON_BLOCKING);
        assertThat(new TraceFilter(toy).capabilities()).isEqualTo(toy.capabilities());
        assertThat(delay.geometry()).isEqualTo(toy.geometry());
        assertThat(delay.identity()).isEqualTo(toy.identity());
        assertThat(delay.limits()).isEqualTo(toy.limits());
        assertThat(delay.readOnly()).isTrue();
        delay.close();
        assertThat(toy.closed).isTrue();
    }

    @Test
    void shouldPassOnExtents() throws StorageException {
        ToyDevice toy = toy();
        toy.allocatedFrom = 40;
        for (BlockDevice device : List.of(new FaultFilter(toy, FaultPlan.NONE, 1),
                new DelayFilter(toy, Duration.ZERO, Duration.ZERO, 1), new VerifyFilter(toy),
                new ThrottleFilter(toy, 1 << 20, ThrottleFilter.UNLIMITED),
                new TraceFilter(toy))) {
            assertThat(device.extent(3)).as("%s", device).isEqualTo(new Extent(3, 37, false));
            assertThat(device.extent(40)).as("%s", device).isEqualTo(new Extent(40, 24, true));
            assertThatThrownBy(() -> device.extent(64)).isInstanceOf(OutOfRangeException.class);
        }
    }

    @Test
    void shouldHideHolesInFaultyRanges() throws StorageException {
        ToyDevice toy = toy();
        toy.allocatedFrom = 40;
        var device = new FaultFilter(toy, FaultPlan.errors(0.5), 1);
        assertThat(device.extent(3)).isEqualTo(new Extent(3, 61, true));
    }

    @Test
    void shouldReportBlocksOfALostWriteAsAllocated() throws StorageException {
        ToyDevice toy = toy();
        toy.allocatedFrom = 64; // as if it had forgotten everything
        var device = new VerifyFilter(toy);
        device.write(10, filled(2, 1));
        device.write(30, filled(2, 0));
        assertThat(device.extent(0)).isEqualTo(new Extent(0, 10, false));
        assertThat(device.extent(11)).isEqualTo(new Extent(11, 1, true));
        assertThat(device.extent(12)).isEqualTo(new Extent(12, 52, false));
        device.unmap(0, 32);
        assertThat(device.extent(0)).isEqualTo(new Extent(0, 64, false));
    }

    private static ToyDevice toy() {
        return new ToyDevice(64, Capability.UNMAP, Capability.UNMAP_ZEROES,
                Capability.COMPARE_AND_WRITE);
    }

    private static MemorySegment filled(int count, int value) {
        return MemorySegment.ofArray(new byte[512 * count]).fill((byte) value);
    }
}
