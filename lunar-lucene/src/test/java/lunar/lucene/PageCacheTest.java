package lunar.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.filter.TraceFilter;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which reads reach the device and which are served from the cache. */
@Timeout(300)
class PageCacheTest {
    private static final int PAGE = PageCache.PAGE_BYTES;
    private static final int LENGTH = 8 << 20;

    private final AtomicLong reads = new AtomicLong();

    private interface Use {
        void of(IndexInput in) throws IOException;
    }

    /** A file of 512 pages under a cache of 64. */
    private void with(String uri, Use use) throws IOException {
        try (BlockDevice device = new TraceFilter(Devices.open(uri), trace -> {
            if (trace.operation() == BlockRequest.Operation.READ) {
                reads.incrementAndGet();
            }
        })) {
            LunarDirectory.format(device);
            try (LunarDirectory directory = LunarDirectory.open(device, 1 << 20)) {
                try (IndexOutput out = directory.createOutput("file", IOContext.DEFAULT)) {
                    for (int i = 0; i < LENGTH / Long.BYTES; i++) {
                        out.writeLong(i);
                    }
                }
                reads.set(0);
                try (IndexInput in = directory.openInput("file", IOContext.DEFAULT)) {
                    use.of(in);
                }
            }
        }
    }

    private static void require(IndexInput in, long position) throws IOException {
        in.seek(position);
        assertThat(in.readLong()).isEqualTo(position / Long.BYTES);
    }

    @Test
    void shouldReadAPageOnceWhileItIsInMemory() throws Exception {
        with("ram:16MiB", in -> {
            var random = new Random(1);
            for (int i = 0; i < 1000; i++) {
                require(in, (long) random.nextInt(60) * PAGE + 8L * random.nextInt(PAGE / 8));
            }
            assertThat(reads.get()).isBetween(50L, 60L);
        });
    }

    @Test
    void shouldKeepReusedBlocksDuringASequentialRead() throws Exception {
        with("ram:16MiB", in -> {
            for (int round = 0; round < 3; round++) {
                for (int page = 0; page < 20; page++) {
                    require(in, (long) page * PAGE);
                }
            }
            IndexInput scan = in.clone();
            for (int page = 20; page < 500; page++) {
                require(scan, (long) page * PAGE);
                require(in, (long) (page % 20) * PAGE);
            }
            assertThat(reads.get()).isEqualTo(500);
        });
    }

    /** The pages are on their way when they are wanted: nothing is read twice, and nothing is missing. */
    @Test
    void shouldReadAheadAndPrefetchOnADeviceThatTakesTime() throws Exception {
        with("delay=100us:ram:16MiB", in -> {
            in.seek(0);
            for (int i = 0; i < LENGTH / Long.BYTES; i++) {
                assertThat(in.readLong()).isEqualTo(i);
            }
            assertThat(reads.get()).isEqualTo(LENGTH / PAGE);
            reads.set(0);
            in.prefetch(100, 10 * PAGE);
            while (reads.get() < 11) { // nobody has read anything yet
                Thread.onSpinWait();
            }
            require(in, 104);
            assertThat(reads.get()).isEqualTo(11);
        });
    }
}
