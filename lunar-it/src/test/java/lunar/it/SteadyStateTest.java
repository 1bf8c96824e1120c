package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.testkit.CompilerPatience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the allocation of READ and WRITE at both ends together: initiator, TCP, target and device of this process, with
 * several commands in flight. The allocations of all threads count. A command that allocates does so in each run,
 * whereas classes loaded at a branch's first use, timers and reconnections occur in some runs only; so one run without
 * allocation suffices.
 */
class SteadyStateTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM_UP_COMMANDS = 100_000;
    private static final int COMMANDS = 20_000;
    private static final int DEPTH = 16;
    private static final int BYTES = 4096;

    /** Allocation allowance of a run: its requests and their memory; less than the smallest object for each command. */
    private static final long CONSTANT_BYTES = 64 * 1024;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"ram:64MiB,'',false", "ram:64MiB,'',true",
            "ram:64MiB,'?header-digest=crc32c&data-digest=crc32c',false",
            "ram:64MiB,'?header-digest=crc32c&data-digest=crc32c',true", "file,'',false",
            "file,'',true"})
    void shouldAllocateNothing(String device, String options, boolean write) throws Exception {
        String uri = device.equals("file")
                ? "file:" + folder.resolve("disk.img") + "?size=64MiB"
                : device;
        try (ServedTarget target = ServedTarget.of(uri);
                BlockDevice lun = Devices.open(target.url(0, 0) + options)) {
            run(lun, write, WARM_UP_COMMANDS);
            List<String> seen = new ArrayList<>();
            boolean clean = false;
            var patience = new CompilerPatience();
            while (!clean && patience.lasts()) {
                Map<String, Long> before = allocatedByThread();
                long allBefore = THREADS.getTotalThreadAllocatedBytes();
                run(lun, write, COMMANDS);
                long bytes = THREADS.getTotalThreadAllocatedBytes() - allBefore;
                clean = bytes < CONSTANT_BYTES;
                seen.add(bytes + " bytes " + growth(before, allocatedByThread()));
            }
            assertThat(clean).as("a run without garbage; seen: %s", seen).isTrue();
        }
    }

    private static Map<String, Long> allocatedByThread() {
        long[] ids = THREADS.getAllThreadIds();
        ThreadInfo[] threads = THREADS.getThreadInfo(ids);
        long[] bytes = THREADS.getThreadAllocatedBytes(ids);
        Map<String, Long> allocated = new TreeMap<>();
        for (int i = 0; i < ids.length; i++) {
            if (threads[i] != null) { // it has not ended meanwhile
                allocated.merge(threads[i].getThreadName(), bytes[i], Long::sum);
            }
        }
        return allocated;
    }

    private static Map<String, Long> growth(Map<String, Long> before, Map<String, Long> after) {
        Map<String, Long> growth = new TreeMap<>();
        after.forEach((name, bytes) -> growth.put(name, bytes - before.getOrDefault(name, 0L)));
        growth.values().removeIf(bytes -> bytes == 0);
        return growth;
    }

    private static void run(BlockDevice lun, boolean write, int commands) throws Exception {
        var left = new AtomicInteger(commands);
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
        assertThat(done.await(180, TimeUnit.SECONDS)).isTrue();
        assertThat(failed).hasNullValue();
    }
}
