package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import lunar.osd.target.command.CommandThreads;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CommandThreadsTest {
    private final List<Thread> users = Collections.synchronizedList(new ArrayList<>());

    @Test
    void shouldUseStoreOnPlatformThreadsOfTheDevice() throws Exception {
        try (var device = new OsdFixture(InterceptedStore.of("write", (_, _) -> {
            users.add(Thread.currentThread());
            return Optional.empty();
        })).withObject()) {
            device.write(OBJECT, 0, new byte[1]).isGood();
        }
        assertThat(users).hasSize(1).allSatisfy(thread -> {
            assertThat(thread.isVirtual()).isFalse();
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread.getName()).startsWith("lunar-osd-command-");
        });
        for (Thread thread : users) {
            thread.join(); // the device has ended
        }
    }

    @Test
    void shouldEndWithBusyAfterTheDeviceHasEnded() throws Exception {
        var device = new OsdFixture().withObject();
        device.close();
        assertThat(device.write(OBJECT, 0, new byte[1]).status()).isEqualTo(Status.BUSY);
    }

    @Test
    void shouldRejectCommandsBeyondItsQueueAndRunTheOthers() throws Exception {
        var mayEnd = new CountDownLatch(1);
        var run = new CountDownLatch(3);
        Runnable command = () -> {
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            run.countDown();
        };
        try (var threads = new CommandThreads(1, 2)) {
            for (int i = 0; i < 3; i++) {
                threads.execute(command);
            }
            assertThatThrownBy(() -> threads.execute(command))
                    .isInstanceOf(RejectedExecutionException.class);
        }
        mayEnd.countDown();
        run.await(); // also those that waited when it was closed
    }

    @Test
    void shouldRunEachOfManyCommandsOnceAndEndItsThreads() throws Exception {
        var run = new AtomicIntegerArray(20_000);
        var left = new CountDownLatch(run.length());
        var workers = ConcurrentHashMap.<Thread>newKeySet();
        try (var threads = new CommandThreads(3, run.length())) {
            for (int i = 0; i < run.length(); i++) {
                int command = i;
                var ended = new CountDownLatch(1);
                threads.execute(() -> {
                    workers.add(Thread.currentThread());
                    run.incrementAndGet(command);
                    left.countDown();
                    ended.countDown();
                });
                if (i % 3 != 0) { // one by one, so that a thread polls for the next; or several at once
                    ended.await();
                }
            }
            left.await();
        }
        for (int i = 0; i < run.length(); i++) {
            assertThat(run.get(i)).as("command " + i).isEqualTo(1);
        }
        assertThat(workers).isNotEmpty().hasSizeLessThanOrEqualTo(3);
        for (Thread worker : workers) {
            worker.join();
        }
    }

    @Test
    void shouldRunCommandsAfterOneThatFailsOrInterruptsItsThread() throws Exception {
        var run = new CountDownLatch(1);
        try (var threads = new CommandThreads(1, 4)) {
            threads.execute(() -> {
                throw new IllegalStateException("a bug of a test");
            });
            threads.execute(() -> Thread.currentThread().interrupt());
            threads.execute(run::countDown);
            run.await();
        }
    }

    @Test
    void shouldRejectCommandsAfterItsEnd() throws Exception {
        var threads = new CommandThreads(1, 4);
        for (int i = 0; i < 100; i++) {
            var run = new CountDownLatch(1);
            threads.execute(run::countDown);
            run.await();
        }
        threads.close();
        assertThatThrownBy(() -> threads.execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class);
    }
}
