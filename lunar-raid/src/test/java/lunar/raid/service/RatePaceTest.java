package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RatePaceTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final AtomicLong nowNs = new AtomicLong();
    private final AtomicInteger steps = new AtomicInteger();

    @Test
    void shouldGoOnAtOnceWhileItIsSlowerThanItMayBe() {
        try (ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
            var pace = new RatePace(1000, timer, nowNs::get);
            for (int i = 1; i <= 100; i++) {
                nowNs.addAndGet(SECOND_NS);
                pace.next(100, steps::incrementAndGet);
                assertThat(steps).hasValue(i);
            }
        }
    }

    @Test
    void shouldPauseAndNotMakeUpForIdleTime() throws Exception {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        try {
            var pace = new RatePace(1, timer, nowNs::get);
            nowNs.addAndGet(1000 * SECOND_NS);
            pace.next(500, steps::incrementAndGet);
            assertThat(steps).hasValue(0);
            var ended = new CountDownLatch(1);
            pace.release();
            timer.execute(ended::countDown); // behind what was released
            ended.await();
            assertThat(steps).hasValue(1);
            pace.next(500, steps::incrementAndGet);
            assertThat(steps).hasValue(2);
        } finally {
            timer.shutdownNow(); // the pause that was cut short would be waited for
        }
    }
}
