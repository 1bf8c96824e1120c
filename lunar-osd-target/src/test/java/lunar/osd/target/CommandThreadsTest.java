package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
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
}
