package lunar.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.spi.Polling;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests work that may block on the thread of a loop, and the thread that relieves it. */
@Timeout(600)
class ReliefTest {
    private static final Executor REJECTING = _ -> {
        throw new RejectedExecutionException("full");
    };

    private final CompletionQueue source = new CompletionQueue();
    private final EventSourceLoop loop = new EventSourceLoop("test-loop", source, Polling.OFF);
    private final CountDownLatch hang = new CountDownLatch(1);

    @BeforeEach
    void start() { loop.start(); }

    @AfterEach
    void stop() {
        hang.countDown();
        loop.stop();
        loop.awaitEnd();
    }

    private static <T extends @Nullable Object> T get(CompletableFuture<T> future)
            throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    /** Hands work to the loop, as a connection does that has received a command. */
    private void brief(Runnable work, Executor executor) {
        source.completions.add(() -> loop.executeBriefly(work, executor));
    }

    /** Makes the loop's thread hang in work, as soon as another one stands by. Returns that thread. */
    private Thread hang(CountDownLatch until) throws Exception {
        while (true) {
            var hanging = new CompletableFuture<@Nullable Thread>();
            brief(() -> {
                hanging.complete(Thread.currentThread());
                awaitUninterruptibly(until);
            }, _ -> hanging.complete(null));
            Thread thread = get(hanging);
            if (thread != null) {
                return thread;
            }
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException _) {
                // hangs nevertheless
            }
        }
    }

    private Thread threadOfLoop() throws Exception {
        var thread = new CompletableFuture<Thread>();
        loop.execute(() -> thread.complete(Thread.currentThread()));
        return get(thread);
    }

    @Test
    void shouldRunWorkOnItsThreadAfterTheEvents() throws Exception {
        List<String> order = new ArrayList<>();
        var done = new CompletableFuture<Thread>();
        source.completions.add(() -> {
            loop.executeBriefly(() -> {
                order.add("work, in the loop: " + loop.inLoop());
                done.complete(Thread.currentThread());
            }, REJECTING);
            order.add("event");
        });
        assertThat(get(done).getName()).isEqualTo("test-loop");
        assertThat(order).containsExactly("event", "work, in the loop: false");
    }

    @Test
    void shouldRunWorkOfATask() throws Exception {
        var done = new CompletableFuture<Boolean>();
        loop.execute(() -> loop.executeBriefly(() -> done.complete(true), REJECTING));
        assertThat(get(done)).isTrue();
    }

    @Test
    void shouldRunSeveralWorksOfAnIterationOnTheExecutor() throws Exception {
        var done = new CountDownLatch(3);
        var executed = new AtomicInteger();
        source.completions.add(() -> {
            for (int i = 0; i < 3; i++) {
                loop.executeBriefly(done::countDown, work -> {
                    executed.incrementAndGet();
                    work.run();
                });
            }
        });
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(executed).hasValue(2);
    }

    @Test
    void shouldContinueAfterWorkThatFails() throws Exception {
        brief(() -> {
            throw new AssertionError("test");
        }, REJECTING);
        assertThat(threadOfLoop().isAlive()).isTrue();
        assertThat(hang(hang)).isNotSameAs(threadOfLoop());
    }

    @Test
    void shouldHandleEventsTasksAndTimersWhileWorkHangs() throws Exception {
        Thread hanging = hang(hang);
        var handled = new CompletableFuture<Boolean>();
        source.completions.add(() -> handled.complete(loop.inLoop()));
        assertThat(get(handled)).isTrue();
        var due = new CompletableFuture<Boolean>();
        var _ = loop.schedule(() -> due.complete(loop.inLoop()), 5);
        assertThat(get(due)).isTrue();
        assertThat(threadOfLoop()).isNotSameAs(hanging);
    }

    @Test
    void shouldCostOneThreadOnly() throws Exception {
        Thread _ = hang(hang);
        Thread relief = threadOfLoop();
        for (int i = 0; i < 10; i++) {
            var executed = new CompletableFuture<Boolean>();
            brief(() -> {}, _ -> executed.complete(true));
            assertThat(get(executed)).isTrue();
            assertThat(threadOfLoop()).isSameAs(relief);
        }
    }

    /** The thread whose work has ended stands by, and relieves the other one. */
    @Test
    void shouldRelieveInTurn() throws Exception {
        var threads = new HashSet<Thread>();
        for (int i = 0; i < 5; i++) {
            var until = new CountDownLatch(1);
            Thread hanging = hang(until);
            Thread relief = threadOfLoop();
            assertThat(relief).isNotSameAs(hanging);
            threads.addAll(List.of(hanging, relief));
            until.countDown();
        }
        assertThat(threads).hasSize(2);
    }

    @Test
    void shouldStopWhileWorkHangs() throws Exception {
        Thread hanging = hang(hang);
        loop.stop();
        loop.awaitEnd();
        assertThat(get(source.closed)).isNotSameAs(hanging);
        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> loop.execute(() -> {}));
        hang.countDown();
        hanging.join(60_000);
        assertThat(hanging.isAlive()).isFalse();
    }

    @Test
    void shouldEndBothThreads() throws Exception {
        var until = new CountDownLatch(1);
        Thread first = hang(until);
        Thread relief = threadOfLoop();
        until.countDown();
        loop.stop();
        loop.awaitEnd();
        first.join(60_000);
        relief.join(60_000);
        assertThat(List.of(first.isAlive(), relief.isAlive())).containsOnly(false);
    }

    @Test
    void shouldRelieveAfterAPause() throws Exception {
        brief(() -> {}, REJECTING);
        for (int i = 0; i < 3; i++) {
            Thread.sleep(50); // longer than the thread that stands by stays awake
            var until = new CountDownLatch(1);
            Thread hanging = hang(until);
            assertThat(threadOfLoop()).isNotSameAs(hanging);
            until.countDown();
        }
    }

    @Test
    void shouldLeaveWorkToTheExecutorAfterWorkThatWasSlow() throws Exception {
        var slow = new CompletableFuture<Boolean>();
        brief(() -> {
            sleepUs(500_000); // after which it accepts none for 10 s, the longest time
            slow.complete(true);
        }, REJECTING);
        assertThat(get(slow)).isTrue();
        var executed = new CompletableFuture<Boolean>();
        brief(() -> executed.complete(false), _ -> executed.complete(true));
        assertThat(get(executed)).isTrue();
    }

    @Test
    void shouldLeaveWorkToTheExecutorWhileTheLoopEnds() throws Exception {
        var executed = new CompletableFuture<Boolean>();
        loop.execute(() -> {
            loop.stop();
            loop.executeBriefly(() -> executed.complete(false), _ -> executed.complete(true));
        });
        assertThat(get(executed)).isTrue();
    }

    @Test
    void shouldLeaveWorkOfOtherThreadsToTheExecutor() throws Exception {
        var executed = new CompletableFuture<Boolean>();
        loop.executeBriefly(() -> executed.complete(false), _ -> executed.complete(true));
        assertThat(get(executed)).isTrue();
    }

    @Test
    void shouldRunWorkWithoutTheInterruptOfATask() throws Exception {
        var interrupted = new CompletableFuture<Boolean>();
        loop.execute(() -> {
            Thread.currentThread().interrupt();
            loop.executeBriefly(() -> interrupted.complete(Thread.interrupted()), REJECTING);
        });
        assertThat(get(interrupted)).isFalse();
    }

    /** Whatever the durations of works: one thread at a time runs the loop, and all that was handed in is run. */
    @Test
    void shouldKeepTheLoopToOneThreadAtATime() throws Exception {
        var random = new Random(7);
        var inLoop = new AtomicBoolean();
        var violations = new AtomicInteger();
        int count = 3000;
        var done = new CountDownLatch(3 * count);
        Runnable confined = () -> {
            if (!loop.inLoop() || inLoop.getAndSet(true)) {
                violations.incrementAndGet();
            }
            Thread.onSpinWait();
            inLoop.set(false);
            done.countDown();
        };
        for (int i = 0; i < count; i++) {
            long pauseUs = random.nextInt(200) == 0 ? random.nextInt(4000) : random.nextInt(20);
            source.completions.add(() -> {
                confined.run();
                loop.executeBriefly(() -> {
                    sleepUs(pauseUs);
                    loop.execute(confined);
                }, Thread::startVirtualThread);
            });
            loop.execute(confined);
            if (i % 8 == 0) {
                sleepUs(random.nextInt(300));
            }
        }
        assertThat(done.await(300, TimeUnit.SECONDS)).isTrue();
        assertThat(violations).hasValue(0);
    }

    private static void sleepUs(long us) {
        try {
            TimeUnit.MICROSECONDS.sleep(us);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
