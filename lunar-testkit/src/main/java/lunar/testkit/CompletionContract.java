package lunar.testkit;

import static lunar.testkit.DeviceCalls.DEADLINE_SECONDS;
import static lunar.testkit.DeviceCalls.blocks;
import static lunar.testkit.DeviceCalls.readBlocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.MiscompareException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Contract tests of completions ({@link BlockRequest.Completion}): they run where nothing may block, may submit
 * requests, and do not affect others if they throw.
 */
abstract class CompletionContract extends DeviceFixture {
    private static final int THROWING = 8;
    private static final int DEPTH = 64;

    /**
     * Like {@link #create}, but over a device that completes requests on a single thread; empty for a device that is
     * not layered on another one.
     */
    protected Optional<Stacked> createOverOneThread(long blockCount) throws Exception {
        return Optional.empty();
    }

    /**
     * A device over others that complete requests on one thread each.
     *
     * @param device closes the devices below
     */
    public record Stacked(BlockDevice device, List<OneThreadDevice> below) {}

    @Test
    void shouldAcceptRequestsFromWithinCompletions() throws Exception {
        submitEachFromTheCompletionBefore(open(64));
    }

    @Test
    void shouldNotBlockWhereTheDeviceBelowEndsRequests() throws Exception {
        Optional<Stacked> stacked = createOverOneThread(64);
        assumeTrue(stacked.isPresent(), "this device is not layered on another one");
        opened.add(stacked.orElseThrow().device());
        submitEachFromTheCompletionBefore(stacked.orElseThrow().device());
        for (OneThreadDevice below : stacked.orElseThrow().below()) {
            assertThat(below.blocked()).as("executed on the thread that ends requests").isEmpty();
        }
    }

    /** Expected end of a request; null if it must succeed. */
    private record Expected(BlockRequest request,
            @Nullable Class<? extends StorageException> end) {}

    private void submitEachFromTheCompletionBefore(BlockDevice device) throws Exception {
        MemorySegment present = randomBlocks(device, 2);
        MemorySegment back = blocks(device, 2);
        MemorySegment equal = blocks(device, 2).copyFrom(present.asSlice(0, device.blockSize()));
        MemorySegment other = blocks(device, 2).copyFrom(present.asSlice(0, device.blockSize()));
        int differs = random.nextInt(device.blockSize());
        other.set(ValueLayout.JAVA_BYTE, differs,
                (byte) ~other.get(ValueLayout.JAVA_BYTE, differs));
        List<Expected> chain = new ArrayList<>();
        chain.add(new Expected(new BlockRequest().asWrite(8, 2, present, false), null));
        chain.add(new Expected(new BlockRequest().asRead(8, 2, back), null));
        chain.add(new Expected(new BlockRequest().asRead(device.blockCount(), 2, back),
                OutOfRangeException.class));
        if (device.supports(Capability.COMPARE_AND_WRITE)) {
            chain.add(new Expected(new BlockRequest().asCompareAndWrite(8, 1, other, false),
                    MiscompareException.class));
            chain.add(new Expected(new BlockRequest().asCompareAndWrite(8, 1, equal, false),
                    null));
        }
        if (device.supports(Capability.UNMAP)) {
            chain.add(new Expected(new BlockRequest().asUnmap(20, 2), null));
        }
        if (device.supports(Capability.WRITE_ZEROES)) {
            chain.add(new Expected(new BlockRequest().asWriteZeroes(30, 2, false), null));
        }
        chain.add(new Expected(new BlockRequest().asWrite(40, 2, present, true), null));
        chain.add(new Expected(new BlockRequest().asFlush(), null));
        var end = new CompletableFuture<Void>();
        submit(device, chain, 0, differs, end);
        end.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        assertThat(back.mismatch(present)).as("seed %d", seed).isEqualTo(-1);
        assertThat(readBlocks(device, 40, 2).mismatch(present)).as("seed %d", seed).isEqualTo(-1);
    }

    private static void submit(BlockDevice device, List<Expected> chain, int index, int differs,
            CompletableFuture<Void> end) {
        if (index == chain.size()) {
            end.complete(null);
            return;
        }
        Expected expected = chain.get(index);
        device.submit(expected.request().onCompletion((request, failure) -> {
            Class<?> found = failure == null ? null : failure.getClass();
            boolean asExpected = found == expected.end()
                    && (!(failure instanceof MiscompareException miscompare)
                            || miscompare.offsetBytes() == differs);
            if (asExpected) {
                submit(device, chain, index + 1, differs, end);
            } else {
                end.completeExceptionally(new AssertionError(
                        request + " ended with " + failure + ", not " + expected.end(), failure));
            }
        }));
    }

    @Test
    void shouldEndOtherRequestsAfterACompletionThatThrows() throws Exception {
        BlockDevice device = open(DEPTH);
        endOtherRequestsAfterACompletionThatThrows(device);
        Optional<Stacked> stacked = createOverOneThread(DEPTH);
        if (stacked.isPresent()) {
            opened.add(stacked.orElseThrow().device());
            endOtherRequestsAfterACompletionThatThrows(stacked.orElseThrow().device());
        }
    }

    @Test
    void shouldEndAllRequestsWhenItIsClosedThoughACompletionThrows() throws Exception {
        BlockDevice device = open(DEPTH);
        CountDownLatch ended = submitSomeThatThrow(device);
        device.close();
        assertThat(ended.getCount()).isZero();
    }

    private static void endOtherRequestsAfterACompletionThatThrows(BlockDevice device)
            throws Exception {
        CountDownLatch ended = submitSomeThatThrow(device);
        assertThat(ended.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
        device.flush();
        device.submitWrite(0, blocks(device, 1)).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    private static CountDownLatch submitSomeThatThrow(BlockDevice device) {
        var ended = new CountDownLatch(DEPTH);
        for (int i = 0; i < DEPTH; i++) {
            boolean throwing = i % THROWING == 0;
            var request = new BlockRequest().asRead(i, 1, blocks(device, 1))
                    .onCompletion((_, _) -> {
                        ended.countDown();
                        if (throwing) {
                            throw new IllegalStateException("a completion of a test");
                        }
                    });
            try {
                device.submit(request);
            } catch (IllegalStateException e) { // it has run on this thread
                assertThat(e).hasMessage("a completion of a test");
            }
        }
        return ended;
    }
}
