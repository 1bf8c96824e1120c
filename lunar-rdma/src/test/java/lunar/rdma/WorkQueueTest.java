package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class WorkQueueTest {
    private static final int DEPTH = 8;
    private static final int OPERATIONS = 300_000;

    /** A post that fails on one thread while another one completes operations must not make it pass the tail. */
    @Test
    @Timeout(60)
    @SuppressWarnings("NullAway") // no endpoint takes part
    void shouldReportAllOperationsWhileOthersAreUndone() throws Exception {
        var queue = new WorkQueue(null, DEPTH, 1);
        queue.setReportsAll(true);
        var posted = new ArrayBlockingQueue<Integer>(DEPTH);
        var polling = CompletableFuture.supplyAsync(() -> {
            var completion = new Completion();
            int reported = 0;
            for (int i = 0; i < OPERATIONS; i++) {
                Integer number = posted.poll();
                while (number == null) {
                    Thread.onSpinWait();
                    number = posted.poll();
                }
                reported += queue.complete(number, true, completion) ? 1 : 0;
            }
            return reported;
        });
        WorkRequest request = new WorkRequest().send();
        for (int i = 0; i < OPERATIONS; i++) {
            while (queue.isFull()) {
                Thread.onSpinWait();
            }
            for (int tries = 0; tries < 20; tries++) { // the device has no room
                int _ = queue.add(request);
                queue.undo();
            }
            posted.put(queue.add(request));
        }
        assertThat(polling.get()).isEqualTo(OPERATIONS);
        assertThat(queue.posted()).isZero();
    }
}
