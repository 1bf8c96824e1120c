package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class WorkQueueTest {
    private static final int DEPTH = 8;
    /** Operations on an idle machine; a busy one performs as many as it can in {@link #MAX_NANOS}. */
    private static final int MAX_OPERATIONS = 300_000;
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** Rounds of waiting before the processor is given to others. */
    private static final int SPINS = 100;

    @SuppressWarnings("NullAway") // no endpoint takes part
    private final WorkQueue queue = new WorkQueue(null, DEPTH, 1);
    private final ArrayBlockingQueue<Integer> posted = new ArrayBlockingQueue<>(DEPTH);
    private final long start = System.nanoTime();
    private volatile boolean isOver;

    /** A post that fails on one thread while another one completes operations must not make it pass the tail. */
    @Test
    @Timeout(300)
    void shouldReportAllOperationsWhileOthersAreUndone() throws Exception {
        queue.setReportsAll(true);
        var polling = CompletableFuture.supplyAsync(this::completeAll,
                Thread.ofPlatform().daemon()::start);
        int operations = 0;
        try {
            WorkRequest request = new WorkRequest().send();
            while (operations < MAX_OPERATIONS && !isTimeOver(operations)) {
                for (int rounds = 0; queue.isFull() && !polling.isDone(); rounds++) {
                    pause(rounds);
                }
                for (int tries = 0; tries < 20; tries++) { // the device has no room
                    int _ = queue.add(request);
                    queue.undo();
                }
                posted.put(queue.add(request));
                operations++;
            }
        } finally {
            isOver = true;
        }
        assertThat(polling.get()).isEqualTo(operations).isPositive();
        assertThat(queue.posted()).isZero();
    }

    /** Looks at the clock now and then, which takes as long as several operations. */
    private boolean isTimeOver(int operations) {
        return operations > 0 && operations % 256 == 0
                && System.nanoTime() - start > MAX_NANOS;
    }

    private static void pause(int rounds) {
        if (rounds < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    /** Completes what is posted until all is; returns how many operations were reported. */
    private int completeAll() {
        var completion = new Completion();
        int reported = 0;
        int rounds = 0;
        while (true) {
            Integer number = posted.poll();
            if (number != null) {
                reported += queue.complete(number, true, completion) ? 1 : 0;
                rounds = 0;
            } else if (isOver && posted.isEmpty()) {
                return reported;
            } else {
                pause(rounds++);
            }
        }
    }
}
