package lunar.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

class WorkerThreadsTest {
    /** Each job waits for all others, which it would do forever if one began later. */
    @Test
    void shouldRunAllJobsAtOnce() throws Exception {
        var together = new CyclicBarrier(20);
        try (var crew = new WorkerThreads(20)) {
            for (int round = 0; round < 3; round++) {
                assertThat(crew.run(Collections.nCopies(20, () -> await(together)))).isPositive();
            }
        }
    }

    private static void await(CyclicBarrier barrier) throws BenchException {
        try {
            int _ = barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new BenchException("not together", e);
        }
    }

    @Test
    void shouldReportWhyAJobFailed() {
        try (var crew = new WorkerThreads(2)) {
            assertThatThrownBy(() -> crew.run(List.of(() -> {}, () -> {
                throw new BenchException("no such disk");
            }))).isInstanceOf(BenchException.class).hasMessage("no such disk");
        }
    }
}
