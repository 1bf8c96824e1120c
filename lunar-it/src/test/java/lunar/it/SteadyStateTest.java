package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a READ or WRITE costs in garbage at both ends together: initiator, TCP, target and device of this process, with
 * several commands in flight. Every thread's allocations count.
 */
@Timeout(120)
class SteadyStateTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int COMMANDS = 100_000;
    private static final int RUNS = 3;
    private static final int DEPTH = 16;
    private static final int BYTES = 4096;

    /** What a run may cost whatever its length: arrays that grow, timers, a garbage collection that drops views. */
    private static final long CONSTANT_BYTES = 256 * 1024;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"ram:64MiB,'',false", "ram:64MiB,'',true",
            "ram:64MiB,'?header-digest=crc32c&data-digest=crc32c',false",
            "ram:64MiB,'?header-digest=crc32c&data-digest=crc32c',true", "file,'',false",
            "file,'',true"})
    void shouldMakeNoGarbage(String device, String options, boolean write) throws Exception {
        String uri = device.equals("file")
                ? "file:" + folder.resolve("disk.img") + "?size=64MiB"
                : device;
        try (ServedTarget target = ServedTarget.of(uri);
                BlockDevice lun = Devices.open(target.url(0, 0) + options)) {
            run(lun, write);
            run(lun, write);
            long least = Long.MAX_VALUE; // garbage of commands is in each run, other garbage of the process is not
            for (int i = 0; i < RUNS && least >= CONSTANT_BYTES; i++) {
                long before = THREADS.getTotalThreadAllocatedBytes();
                run(lun, write);
                least = Math.min(least, THREADS.getTotalThreadAllocatedBytes() - before);
            }
            assertThat(least).isLessThan(CONSTANT_BYTES);
        }
    }

    private static void run(BlockDevice lun, boolean write) throws Exception {
        var left = new AtomicInteger(COMMANDS);
        var done = new CountDownLatch(DEPTH);
        var failed = new AtomicReference<@Nullable StorageException>();
        List<BlockRequest> requests = new ArrayList<>();
        for (int i = 0; i < DEPTH; i++) {
            MemorySegment memory = Arena.ofAuto().allocate(BYTES, BYTES);
            long lba = i * 8L;
            BlockRequest request = write
                    ? new BlockRequest().asWrite(lba, 8, memory, false)
                    : new BlockRequest().asRead(lba, 8, memory);
            requests.add(request.onCompletion((ended, failure) -> {
                if (failure != null) {
                    failed.set(failure);
                }
                if (failure == null && left.getAndDecrement() > 0) {
                    lun.submit(ended);
                } else {
                    done.countDown();
                }
            }));
        }
        requests.forEach(lun::submit);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(failed).hasNullValue();
    }
}
