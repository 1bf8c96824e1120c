package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.filter.CacheFilter;
import lunar.filter.CacheOptions;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;

/** Tests a cache over a device that loses acknowledged writes (docs/adr/008-lost-write-caches.md). */
class CacheLossTest {
    private final SteppedDevice medium = new SteppedDevice(128);
    private final Lossy lossy = new Lossy(medium);
    private final CacheFilter cache = new CacheFilter(lossy,
            CacheOptions.of(64 << 10).withPageBytes(1024)
                    .withReadAheadBytes(CacheOptions.NO_READ_AHEAD));

    /** Its losses are counted, and its flushes fail, when the test says so. */
    private static final class Lossy extends ForwardingDevice {
        private long losses;
        private int failingFlushes;

        Lossy(BlockDevice below) { super(below); }

        @Override
        public long writeLosses() { return losses; }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            requireStable(request);
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            try {
                requireStable(request);
                below().submit(request);
            } catch (LostWritesException e) {
                RequestCompletion.fail(request, e);
            }
        }

        private void requireStable(BlockRequest request) throws LostWritesException {
            if ((request.operation() == Operation.FLUSH || request.fua()) && failingFlushes > 0) {
                failingFlushes--;
                throw new LostWritesException(request + ": lost, as the test wants");
            }
        }
    }

    private static MemorySegment filled(int value) {
        return MemorySegment.ofArray(new byte[1024]).fill((byte) value);
    }

    private int read() throws StorageException {
        MemorySegment blocks = filled(0xee);
        cache.read(0, blocks);
        return blocks.get(ValueLayout.JAVA_BYTE, 1023);
    }

    /** The medium has the write before the last one. */
    private void lose() {
        medium.content().fill((byte) 1);
    }

    private void writeAndLose() throws StorageException {
        cache.write(0, filled(7));
        assertThat(read()).isEqualTo(7);
        lose();
    }

    @Test
    void shouldReportWhatTheDeviceHoldsAsSoonAsItHasCountedALoss() throws Exception {
        writeAndLose();
        lossy.losses++;
        assertThat(read()).isEqualTo(1);
        MemorySegment submitted = filled(0xee);
        CompletableFuture<Void> read = cache.submitRead(0, submitted);
        medium.endAll();
        assertThat(read).isCompleted();
        assertThat(submitted.mismatch(filled(1))).isEqualTo(-1);
    }

    @Test
    void shouldReportWhatTheDeviceHoldsOnceAFlushHasFailed() throws Exception {
        writeAndLose();
        lossy.failingFlushes = 1;
        assertThatThrownBy(cache::flush).isInstanceOf(LostWritesException.class);
        assertThat(read()).isEqualTo(1);
        cache.write(0, filled(8));
        lossy.failingFlushes = 1;
        assertThat(cache.submitFlush()).isCompletedExceptionally();
        lose();
        assertThat(read()).isEqualTo(1);
    }

    @Test
    void shouldReportWhatTheDeviceHoldsOnceAWriteWithFuaHasFailed() throws Exception {
        writeAndLose();
        lossy.failingFlushes = 1;
        assertThatThrownBy(() -> cache.writeThrough(64, filled(2)))
                .isInstanceOf(LostWritesException.class);
        assertThat(read()).isEqualTo(1);
    }

    /** A file answers reads from the page cache until its loss is accepted, then from the disk. */
    @Test
    void shouldKeepNothingBeforeAFlushHasSucceeded() throws Exception {
        writeAndLose();
        lossy.losses++;
        lossy.failingFlushes = 2;
        assertThatThrownBy(cache::flush).isInstanceOf(LostWritesException.class);
        assertThat(read()).isEqualTo(1);
        cache.write(0, filled(8));
        assertThatThrownBy(cache::flush).isInstanceOf(LostWritesException.class);
        assertThat(read()).isEqualTo(8);
        lose(); // what it told is not stored either
        cache.flush();
        assertThat(read()).isEqualTo(1);
        medium.content().fill((byte) 9); // bypasses the cache, so that the source of data is visible
        assertThat(read()).as("a cache again").isEqualTo(1);
    }

    @Test
    void shouldNotKeepWhatWasReadBeforeALossThatCameFirst() throws Exception {
        cache.write(0, filled(7));
        cache.unmap(0, 2);
        medium.content().asSlice(0, 1024).fill((byte) 7);
        MemorySegment slow = filled(0xee);
        var read = cache.submitRead(0, slow);
        medium.pending().getFirst().run(); // it has what will be lost, and does not end yet
        lose();
        lossy.losses++;
        cache.flush(); // succeeds: nobody's write is in doubt any longer
        medium.endAll();
        assertThat(read).isCompleted();
        assertThat(read()).isEqualTo(1);
    }
}
