package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pools on a device that does nothing. */
class MemoryPoolTest {
    private static final int ROUNDS = 2_000;

    private ProtectionDomain domain;

    @BeforeEach
    void open() throws RdmaException { domain = new RdmaDevice(new ScriptedDevice()).open(); }

    @AfterEach
    void close() { domain.close(); }

    @Test
    void shouldRemainOpenWhileOperationUsesSlice() throws Exception {
        MemoryPool pool = domain.createPool(3, 64, Access.LOCAL);
        MemorySlice idle = pool.take();
        MemorySlice used = pool.take();
        assertThat(used.acquire()).isTrue();
        assertThatThrownBy(pool::close).isInstanceOf(MemoryInUseException.class);
        assertThat(idle.acquire()).isTrue();
        idle.release();
        used.close(); // given back, and still used
        assertThatThrownBy(pool::close).isInstanceOf(MemoryInUseException.class);
        used.release();
        assertThat(pool.available()).isEqualTo(2);
        pool.close();
        assertThat(idle.acquire()).isFalse();
    }

    /** Another thread posts operations that complete at once, for as long as the slice can be posted. */
    @Test
    void shouldNotCloseWithSliceThatCanBePosted() throws Exception {
        var failure = new AtomicReference<Throwable>();
        for (int i = 0; i < ROUNDS && failure.get() == null; i++) {
            MemoryPool pool = domain.createPool(1, 64, Access.LOCAL);
            MemorySlice slice = pool.take();
            var isClosed = new AtomicBoolean();
            var isPosting = new CountDownLatch(1);
            Thread poster = Thread.ofPlatform().start(() -> {
                while (true) {
                    boolean wasClosed = isClosed.get();
                    if (!slice.acquire()) {
                        return;
                    }
                    slice.release();
                    isPosting.countDown();
                    if (wasClosed) {
                        failure.set(new AssertionError("posted after the close"));
                        return;
                    }
                }
            });
            isPosting.await();
            while (true) {
                try {
                    pool.close();
                    break;
                } catch (MemoryInUseException e) {
                    Thread.onSpinWait();
                }
            }
            isClosed.set(true);
            poster.join();
        }
        assertThat(failure.get()).isNull();
    }
}
