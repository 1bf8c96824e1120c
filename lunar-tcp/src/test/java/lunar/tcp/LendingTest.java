package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import lunar.iscsi.spi.Polling;
import lunar.loop.EventSourceLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a loop whose only channel is a pipe: a byte is a response to the borrower of that number. */
@Timeout(600)
@ParameterizedClass
@MethodSource("pollings")
class LendingTest {
    private static final int GUESTS = 3;

    @Parameter
    private Polling polling;
    private EventSourceLoop loop;
    private Pipe pipe;
    private final AtomicIntegerArray asked = new AtomicIntegerArray(GUESTS);
    private final AtomicIntegerArray answered = new AtomicIntegerArray(GUESTS);
    private final Thread[] waiting = new Thread[GUESTS];
    private volatile Thread handledBy;

    static Stream<Polling> pollings() {
        return Stream.of(Polling.OFF, Polling.of(Duration.ofMillis(1)), Polling.AUTO);
    }

    @BeforeEach
    void start() throws Exception {
        SelectorSource source = SelectorSource.start("test-loop", polling);
        loop = source.loop();
        pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        var registered = new CompletableFuture<SelectionKey>();
        loop.execute(() -> {
            try {
                SelectionKey key = pipe.source().register(source.selector(), SelectionKey.OP_READ);
                key.attach((SelectorSource.Ready) this::read);
                registered.complete(key);
            } catch (IOException e) {
                registered.completeExceptionally(e);
            }
        });
        SelectionKey _ = registered.get(60, TimeUnit.SECONDS);
    }

    @AfterEach
    void stop() throws IOException {
        loop.stop();
        loop.awaitEnd();
        pipe.sink().close();
        pipe.source().close();
    }

    /** On the loop: answers have come. */
    private void read() {
        assertThat(loop.inLoop()).isTrue();
        var bytes = ByteBuffer.allocate(64);
        try {
            int _ = pipe.source().read(bytes);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        handledBy = Thread.currentThread();
        for (int i = 0; i < bytes.position(); i++) {
            int guest = bytes.get(i);
            int _ = answered.incrementAndGet(guest);
            LockSupport.unpark(waiting[guest]);
        }
        if (nothingExpected()) {
            loop.lend(this::nothingExpected);
        }
    }

    private boolean nothingExpected() {
        for (int i = 0; i < GUESTS; i++) {
            if (answered.get(i) != asked.get(i)) {
                return false;
            }
        }
        return true;
    }

    /** Asks, and waits for the answer, as a guest where that can be. */
    private void ask(int guest) throws IOException {
        waiting[guest] = Thread.currentThread();
        int number = asked.incrementAndGet(guest);
        assertThat(pipe.sink().write(ByteBuffer.wrap(new byte[]{(byte) guest}))).isOne();
        BooleanSupplier done = () -> answered.get(guest) >= number;
        if (!loop.lead(done)) {
            while (!done.getAsBoolean()) {
                LockSupport.park(this);
            }
        }
    }

    /** Asks until an answer was handled by the caller. */
    private void becomeGuest() throws IOException {
        do {
            ask(0);
        } while (!Thread.currentThread().equals(handledBy));
    }

    @Test
    void shouldLetAWaitingThreadHandleEvents() throws Exception {
        becomeGuest();
        assertThat(loop.inLoop()).isFalse();
    }

    @Test
    void shouldRunTasksOnItsOwnThreadWhileAGuestLeads() throws Exception {
        becomeGuest();
        var ran = new CompletableFuture<Thread>();
        var other = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(20_000_000);
            loop.execute(() -> ran.complete(Thread.currentThread()));
        });
        while (!ran.isDone()) { // what it waits for does not come
            boolean _ = loop.lead(ran::isDone);
        }
        assertThat(ran.get().getName()).isEqualTo("test-loop");
        other.join();
    }

    @Test
    void shouldRunTimersWhileAGuestLeads() throws Exception {
        becomeGuest();
        var ran = new CompletableFuture<Thread>();
        var _ = loop.schedule(() -> ran.complete(Thread.currentThread()), 30);
        while (!ran.isDone()) {
            boolean _ = loop.lead(ran::isDone);
        }
        assertThat(ran.get().getName()).isEqualTo("test-loop");
    }

    @Test
    void shouldHandleEventsWithoutALeadingGuest() throws Exception {
        becomeGuest();
        int number = asked.incrementAndGet(1);
        assertThat(pipe.sink().write(ByteBuffer.wrap(new byte[]{1}))).isOne();
        while (answered.get(1) < number) {
            Thread.sleep(1);
        }
        assertThat(handledBy.getName()).isEqualTo("test-loop");
    }

    @Test
    void shouldKeepAnInterruptOfAGuest() throws Exception {
        becomeGuest();
        Thread guest = Thread.currentThread();
        var passed = new AtomicBoolean();
        var other = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(20_000_000);
            guest.interrupt();
            LockSupport.parkNanos(20_000_000);
            passed.set(true);
            loop.attend();
            loop.execute(() -> {});
        });
        while (!passed.get()) {
            boolean _ = loop.lead(passed::get);
        }
        assertThat(Thread.interrupted()).isTrue();
        other.join();
    }

    @Test
    void shouldEndWhileAGuestLeads() throws Exception {
        becomeGuest();
        var ended = new AtomicBoolean();
        var other = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(20_000_000);
            loop.stop();
            loop.awaitEnd();
            ended.set(true);
        });
        boolean _ = loop.lead(() -> false);
        other.join();
        assertThat(ended).isTrue();
    }

    @Test
    void shouldLoseNothingAmongGuestsThatComeAndGo() throws Exception {
        int rounds = 4000;
        var left = new CountDownLatch(GUESTS * rounds + 1);
        var threads = new Thread[GUESTS];
        for (int i = 0; i < GUESTS; i++) {
            int guest = i;
            threads[i] = Thread.ofPlatform().start(() -> {
                try {
                    for (int round = 0; round < rounds; round++) {
                        ask(guest);
                        left.countDown();
                        if (round % 50 < guest * 10) { // so that each is alone now and then
                            LockSupport.parkNanos(100_000);
                        }
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (int i = 0; i < 500; i++) {
            var ran = new CountDownLatch(1);
            loop.execute(ran::countDown);
            Endpoint.await(ran, "task " + i);
        }
        left.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(left.getCount()).isZero();
    }
}
