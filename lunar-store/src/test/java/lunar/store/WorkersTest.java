package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests workers in a process that has reached its thread limit. */
class WorkersTest {
    /** Threads that can still be started. */
    private final AtomicInteger room = new AtomicInteger();
    private final MemoryDevice device = MemoryDevice.create(1 << 20, 512);
    private final Workers workers = new Workers(device, 4, task -> new Thread(task) {
        @Override
        public void start() {
            if (room.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            super.start();
        }
    });

    @AfterEach
    void close() throws Exception {
        workers.close();
        device.close();
    }

    private CompletableFuture<Void> submit() {
        var end = new CompletableFuture<Void>();
        workers.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
            if (failure == null) {
                end.complete(null);
            } else {
                end.completeExceptionally(failure);
            }
        }));
        return end;
    }

    @Test
    void shouldRejectImpossibleThreadSettings() throws Exception {
        assertThatThrownBy(() -> submit().get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(BusyException.class);
        room.set(1);
        submit().get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldContinueWithExistingThreads() throws Exception {
        room.set(1);
        var running = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        workers.submit(new BlockRequest().asFlush().onCompletion((_, _) -> {
            running.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> waiting;
        try {
            waiting = submit();
            assertThat(waiting).isNotDone();
        } finally {
            go.countDown();
        }
        waiting.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldNotThrowWhatTheCompletionOfARefusedRequestThrows() {
        workers.close();
        workers.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
            assertThat(failure).isInstanceOf(DeviceGoneException.class);
            throw new IllegalStateException("a completion that throws");
        }));
    }
}
