package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.spi.EventLoop.Timer;
import lunar.iscsi.spi.Polling;
import lunar.loop.EventSourceLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests a loop over a selector. */
class SelectorLoopTest {
    private EventSourceLoop loop;

    @BeforeEach
    void start() throws IOException {
        loop = SelectorSource.start("test-loop", Polling.OFF).loop();
    }

    @AfterEach
    void stop() {
        loop.stop();
        loop.awaitEnd();
    }

    @Test
    void shouldRunTasksOfManyThreadsInTheOrderOfEach() throws Exception {
        int threads = 4;
        int each = 5000;
        var next = new int[threads]; // touched by the loop's thread only
        var wrong = new AtomicInteger();
        var left = new CountDownLatch(threads * each);
        for (int thread = 0; thread < threads; thread++) {
            int number = thread;
            Thread _ = Thread.startVirtualThread(() -> {
                for (int i = 0; i < each; i++) {
                    int expected = i;
                    loop.execute(() -> {
                        if (next[number]++ != expected || !loop.inLoop()) {
                            wrong.incrementAndGet();
                        }
                        left.countDown();
                    });
                }
            });
        }
        Endpoint.await(left, "all tasks");
        assertThat(wrong).hasValue(0);
    }

    @Test
    void shouldWakeUpForASingleTaskEachTime() throws Exception {
        for (int i = 0; i < 2000; i++) { // a lost wake-up would leave it asleep forever
            var ran = new CountDownLatch(1);
            loop.execute(ran::countDown);
            Endpoint.await(ran, "task " + i);
        }
    }

    @Test
    void shouldFireTimersInTheOrderOfTheirTimes() throws Exception {
        var fired = new LinkedBlockingQueue<Integer>();
        int[] delaysMs = {20, 5, 0, 5, 12, 0, 20, 1, 5};
        loop.execute(() -> {
            List<Timer> timers = new ArrayList<>();
            long beforeMs;
            do { // until all are counted from the same millisecond
                timers.forEach(Timer::cancel);
                timers.clear();
                beforeMs = loop.nowMs();
                for (int i = 0; i < delaysMs.length; i++) {
                    int number = i;
                    timers.add(loop.schedule(() -> fired.add(number), delaysMs[i]));
                }
            } while (loop.nowMs() != beforeMs);
        });
        for (int expected : new int[]{2, 5, 7, 1, 3, 8, 4, 0, 6}) {
            assertThat(fired.poll(60, TimeUnit.SECONDS)).isEqualTo(expected);
        }
        assertThat(fired).isEmpty();
    }

    @Test
    void shouldNotRunACancelledTimer() throws Exception {
        var ran = new AtomicBoolean();
        var later = new CountDownLatch(1);
        Timer never = loop.schedule(() -> ran.set(true), Long.MAX_VALUE);
        loop.execute(() -> { // so that the timer cannot run before it is cancelled
            Timer timer = loop.schedule(() -> ran.set(true), 1);
            timer.cancel();
            timer.cancel();
            Timer _ = loop.schedule(later::countDown, 2);
        });
        Endpoint.await(later, "the later timer");
        never.cancel();
        assertThat(ran).isFalse();
    }

    @Test
    void shouldOutliveTasksAndTimersThatThrow() throws Exception {
        loop.execute(() -> { throw new IllegalStateException("a task's bug"); });
        loop.execute(() -> { throw new AssertionError("a task's bug"); });
        Timer _ = loop.schedule(() -> { throw new IllegalStateException("a timer's bug"); }, 0);
        loop.execute(() -> Thread.currentThread().interrupt());
        var ran = new CountDownLatch(1);
        Timer _ = loop.schedule(ran::countDown, 1);
        Endpoint.await(ran, "the timer after");
    }

    @Test
    void shouldRunTasksOfOthersWhileTimersAndTasksAddMore() throws Exception {
        var enough = new AtomicBoolean();
        var repeating = new Runnable() {
            @Override
            public void run() {
                if (!enough.get()) {
                    loop.execute(this);
                }
            }
        };
        var again = new Runnable() {
            @Override
            public void run() {
                if (!enough.get()) {
                    Timer _ = loop.schedule(this, 0);
                }
            }
        };
        loop.execute(repeating);
        loop.execute(again);
        try {
            var ran = new CountDownLatch(1);
            loop.execute(ran::countDown);
            Endpoint.await(ran, "a task amid the others");
            var timer = new CountDownLatch(1);
            Timer _ = loop.schedule(timer::countDown, 1);
            Endpoint.await(timer, "a timer amid the others");
        } finally {
            enough.set(true);
        }
    }

    @Test
    void shouldRunOrRejectEveryTaskAroundItsEnd() throws Exception {
        var ran = new AtomicInteger();
        var taken = new AtomicInteger();
        var refused = new AtomicBoolean();
        var started = new CountDownLatch(100);
        Thread caller = Thread.startVirtualThread(() -> {
            while (!refused.get()) {
                try {
                    loop.execute(ran::incrementAndGet);
                    taken.incrementAndGet();
                } catch (RejectedExecutionException e) {
                    refused.set(true);
                }
                started.countDown();
            }
        });
        Endpoint.await(started, "some tasks");
        loop.stop();
        loop.awaitEnd();
        assertThat(caller.join(Duration.ofSeconds(60))).isTrue();
        assertThat(ran).hasValue(taken.get());
        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> loop.execute(() -> {}));
    }
}
