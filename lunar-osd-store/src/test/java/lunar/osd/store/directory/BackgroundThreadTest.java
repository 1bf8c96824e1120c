package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lunar.block.LostWritesException;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the thread, also with work that fails. */
@Timeout(60)
class BackgroundThreadTest {
    private final StableStorage stability = new StableStorage(new StoreDirectory(Path.of("any")));

    @Test
    void shouldFailFlushesOnceItHasEndedByAnException() throws Exception {
        try (var log = new CapturedLog(StableStorage.class.getName());
                var thread = new BackgroundThread("worker", 1, stability, () -> {
                    throw new IllegalArgumentException("unforeseen");
                })) {
            stability.check();
            thread.start();
            while (log.linesWith("unforeseen").isEmpty()) {
                LockSupport.parkNanos(1_000_000);
            }
            assertThat(log.linesWith("worker")).isNotEmpty();
            assertThatThrownBy(stability::check).isInstanceOf(LostWritesException.class)
                    .hasMessageContainingAll("worker", "unforeseen");
        }
    }

    @Test
    void shouldRepeatTheWork() throws Exception {
        var rounds = new CountDownLatch(3);
        try (var thread = new BackgroundThread("worker", 1, stability, rounds::countDown)) {
            thread.start();
            assertThat(rounds.await(60, TimeUnit.SECONDS)).isTrue();
        }
        stability.check();
    }
}
