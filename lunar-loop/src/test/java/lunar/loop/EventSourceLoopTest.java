package lunar.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lunar.iscsi.spi.Polling;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a loop over an event source other than a selector: a completion queue like that of an RDMA adapter. */
@Timeout(300)
@ParameterizedClass
@MethodSource("pollings")
class EventSourceLoopTest {
    private final CompletionQueue source = new CompletionQueue();
    private final EventSourceLoop loop;

    EventSourceLoopTest(Polling polling) {
        loop = new EventSourceLoop("test-loop", source, polling);
    }

    static Stream<Polling> pollings() {
        return Stream.of(Polling.OFF, Polling.of(Duration.ofMillis(1)), Polling.AUTO);
    }

    @BeforeEach
    void start() { loop.start(); }

    @AfterEach
    void stop() {
        loop.stop();
        loop.awaitEnd();
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldHandleEventsOnItsThread() throws Exception {
        var handledBy = new CompletableFuture<Thread>();
        source.completions.add(() -> handledBy.complete(Thread.currentThread()));
        assertThat(get(handledBy).getName()).isEqualTo("test-loop");
    }

    @Test
    void shouldRunTasksAndTimersWhileNoEventComes() throws Exception {
        for (int i = 0; i < 1000; i++) {
            var ran = new CompletableFuture<Boolean>();
            loop.execute(() -> ran.complete(loop.inLoop()));
            assertThat(get(ran)).isTrue();
        }
        var due = new CompletableFuture<Boolean>();
        var _ = loop.schedule(() -> due.complete(loop.inLoop()), 20);
        assertThat(get(due)).isTrue();
    }

    @Test
    void shouldContinueAfterAnErrorOfTheSource() throws Exception {
        source.isBroken = true;
        source.wakeup();
        var handled = new CompletableFuture<Boolean>();
        source.completions.add(() -> handled.complete(true));
        assertThat(get(handled)).isTrue();
    }

    @Test
    void shouldLetAGuestHandleEvents() throws Exception {
        Thread guest = Thread.currentThread();
        var handledBy = new CompletableFuture<Thread>();
        while (!handledBy.isDone() || !guest.equals(handledBy.get())) {
            var handled = new CompletableFuture<Thread>();
            var lent = new CompletableFuture<Void>();
            loop.execute(() -> {
                loop.lend(() -> true);
                lent.complete(null);
            });
            get(lent);
            source.completions.add(() -> handled.complete(Thread.currentThread()));
            boolean _ = loop.lead(handled::isDone);
            handledBy = handled;
            get(handled);
        }
        assertThat(loop.inLoop()).isFalse();
    }

    @Test
    void shouldRunATimerThatAGuestHasSetWhileNoEventComes() throws Exception {
        Thread guest = Thread.currentThread();
        var due = new CompletableFuture<Boolean>();
        var isSet = new AtomicBoolean();
        while (!isSet.get()) {
            var handled = new CompletableFuture<Void>();
            var lent = new CompletableFuture<Void>();
            loop.execute(() -> {
                loop.lend(() -> true);
                lent.complete(null);
            });
            get(lent);
            source.completions.add(() -> {
                if (guest.equals(Thread.currentThread())) {
                    var _ = loop.schedule(() -> due.complete(loop.inLoop()), 20);
                    isSet.set(true);
                }
                handled.complete(null);
            });
            boolean _ = loop.lead(handled::isDone);
            get(handled);
        }
        assertThat(get(due)).isTrue();
    }

    @Test
    void shouldRunATimerThatFallsDueWhileItPollsBeforeItSleeps() throws Exception {
        var polled = new CompletionQueue();
        var polling = new EventSourceLoop("test-polling", polled, Polling.of(Polling.MAX));
        polling.start();
        try {
            var due = new CompletableFuture<Boolean>();
            var _ = polling.schedule(() -> due.complete(true), 50);
            assertThat(get(due)).isTrue();
            assertThat(polled.limits).allMatch(limitMs -> limitMs == 0);
        } finally {
            polling.stop();
            polling.awaitEnd();
        }
    }

    @Test
    void shouldCloseTheSourceOnItsThreadAndRunTheTasksThatItLeaves() throws Exception {
        var ran = new AtomicInteger();
        source.closed.thenRun(() -> loop.execute(ran::incrementAndGet));
        loop.stop();
        loop.awaitEnd();
        assertThat(get(source.closed).getName()).isEqualTo("test-loop");
        assertThat(ran).hasValue(1);
        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> loop.execute(() -> {}));
    }
}
