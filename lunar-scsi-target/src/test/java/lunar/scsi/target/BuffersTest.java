package lunar.scsi.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BuffersTest {
    private static final int SMALL = 4 << 10;
    private static final int LARGE = 1 << 20;
    private static final int LARGE_ONES = 8;
    private static final long MAX_BYTES = (long) LARGE_ONES * LARGE;

    private static List<Buffers.Buffer> takeAll(Buffers buffers, int bytes) {
        var taken = new ArrayList<Buffers.Buffer>();
        for (var next = buffers.take(bytes); next != null; next = buffers.take(bytes)) {
            taken.add(next);
        }
        return taken;
    }

    @Test
    void shouldReuseReturnedMemory() {
        var buffers = new Buffers(LARGE, MAX_BYTES, 0, _ -> () -> {}, () -> {});
        List<Buffers.Buffer> taken = takeAll(buffers, LARGE);
        assertThat(taken).hasSize(LARGE_ONES);
        taken.forEach(buffers::give);
        assertThat(takeAll(buffers, LARGE)).containsExactlyInAnyOrderElementsOf(taken);
    }

    /** Otherwise, dropped memory that is not freed yet would exceed the limit of the JVM. */
    @Test
    void shouldNotAllocateWhileTooMuchDroppedMemoryIsUnfreed() throws Exception {
        var asked = new CountDownLatch(1);
        var buffers = new Buffers(LARGE, MAX_BYTES, 2 * LARGE, _ -> () -> {}, asked::countDown);
        List<Buffers.Buffer> large = takeAll(buffers, LARGE); // referenced here, so it is never freed
        large.forEach(buffers::give);
        List<Buffers.Buffer> small = takeAll(buffers, SMALL);
        assertThat(small).as("in the memory of two large ones").hasSize(2 * LARGE / SMALL);
        assertThat(asked.await(120, TimeUnit.SECONDS)).as("collection requested").isTrue();
        assertThat(takeAll(buffers, LARGE)).as("the others").hasSize(LARGE_ONES - 2)
                .isSubsetOf(large);
    }

    @Test
    void shouldAllocateAgainAfterDroppedMemoryIsFreed() {
        var buffers = new Buffers(LARGE, MAX_BYTES, 2 * LARGE);
        for (int round = 0; round < 8; round++) {
            int bytes = round % 2 == 0 ? LARGE : 64 << 10;
            int wanted = (int) (MAX_BYTES / bytes);
            var taken = new ArrayList<>(takeAll(buffers, bytes));
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
            while (taken.size() < wanted && System.nanoTime() < end) {
                taken.addAll(takeAll(buffers, bytes));
                Thread.onSpinWait();
            }
            assertThat(taken).as("round %d", round).hasSize(wanted);
            taken.forEach(buffers::give);
        }
        assertThat(buffers.usedBytes()).isZero();
    }
}
