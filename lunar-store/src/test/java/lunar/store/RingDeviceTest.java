package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a file with {@code io=direct} whose submitted reads and writes use an io_uring, where the kernel supports it.
 */
class RingDeviceTest {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 1024;
    private static final FileOptions DIRECT = FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT)
            .withBlockSize(BLOCK).withCreateBytes(BLOCKS * BLOCK);

    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void requireRing() throws IOException {
        file = folder.resolve("disk.img");
        Ring ring;
        try {
            ring = Ring.open(8);
        } catch (IOException e) {
            assumeTrue(false, "no io_uring here: " + e.getMessage());
            throw e;
        }
        ring.close();
    }

    private FileDevice open() throws StorageException {
        FileDevice device = FileDevice.open(file, DIRECT);
        assertThat(device.engine()).isEqualTo("io_uring");
        return device;
    }

    private static MemorySegment aligned(int blocks, int value) {
        return Arena.ofAuto().allocate((long) blocks * BLOCK, BLOCK).fill((byte) value);
    }

    /** The thread on which a read of memory ends. */
    private static String endsOn(BlockDevice device, MemorySegment buffer) throws Exception {
        var thread = new CompletableFuture<String>();
        device.submit(new BlockRequest().asRead(0, 1, buffer).onCompletion((_, failure) -> {
            if (failure == null) {
                thread.complete(Thread.currentThread().getName());
            } else {
                thread.completeExceptionally(failure);
            }
        }));
        return thread.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldUseTheRingForAlignedMemoryAndWorkersForTheRest() throws Exception {
        try (FileDevice device = open()) {
            String ring = "lunar " + device + " ring";
            assertThat(endsOn(device, aligned(1, 0))).isEqualTo(ring);
            assertThat(endsOn(device, aligned(2, 0).asSlice(8, BLOCK))).isNotEqualTo(ring);
            assertThat(endsOn(device, MemorySegment.ofArray(new byte[BLOCK]))).isNotEqualTo(ring);
        }
        try (FileDevice device = FileDevice.open(file, DIRECT.withReadOnly(true))) {
            assertThat(endsOn(device, aligned(1, 0))).endsWith(" ring");
        }
    }

    @Test
    void shouldUseWorkersIfARingIsNotAllowedOrAvailable() throws Exception {
        try (FileDevice device = FileDevice.open(file, DIRECT.withRing(false))) {
            assertThat(device.engine()).isEqualTo("workers");
            device.submitWrite(3, aligned(2, 5)).get(60, TimeUnit.SECONDS);
            MemorySegment back = aligned(2, 0);
            device.submitRead(3, back).get(60, TimeUnit.SECONDS);
            assertThat(back.mismatch(aligned(2, 5))).isEqualTo(-1);
        }
        try (FileDevice device = FileDevice.open(file,
                DIRECT.withIo(FileOptions.Io.BUFFERED))) {
            assertThat(device.engine()).isEqualTo("workers");
        }
        // The kernel refuses a ring without entries.
        assertThatThrownBy(() -> Ring.open(0)).isInstanceOf(IOException.class)
                .hasMessageContaining("io_uring_setup: error 22");
        try (LinuxFile own = LinuxFile.openDirect(file, true).orElseThrow()) {
            assertThat(RingEngine.open(new NoDevice(), own, DIRECT, () -> Ring.open(0))).isEmpty();
        }
        assertThat(RingEngine.open(new NoDevice(), null, DIRECT, () -> Ring.open(8))).isEmpty();
    }

    private record NoDevice() implements RingEngine.Device {
        @Override
        public boolean isDirect(BlockRequest request) { return false; }

        @Override
        public boolean isLost() { return false; }

        @Override
        public long offsetBytes(BlockRequest request) { return 0; }

        @Override
        public RequestLock alone() { throw new AssertionError(); }

        @Override
        public void submitToWorkers(BlockRequest request) { throw new AssertionError(); }

        @Override
        public void stableWriteFailed(String reason) { throw new AssertionError(reason); }
    }

    /** A device whose writes all fail in the ring: its file is opened for reading only. */
    private record Refusing(List<String> told, RequestLock alone) implements RingEngine.Device {
        @Override
        public boolean isDirect(BlockRequest request) { return true; }

        @Override
        public boolean isLost() { return false; }

        @Override
        public long offsetBytes(BlockRequest request) { return 0; }

        @Override
        public void submitToWorkers(BlockRequest request) { RequestCompletion.succeed(request); }

        @Override
        public void stableWriteFailed(String reason) { told.add(reason); }
    }

    @Test
    void shouldReportAFailedWriteWithFuaToTheDeviceBeforeTheRetry() throws Exception {
        Files.write(file, new byte[BLOCK]);
        var device = new Refusing(new CopyOnWriteArrayList<>(), new RequestLock());
        try (LinuxFile own = LinuxFile.openDirect(file, false).orElseThrow();
                FastPath ring = RingEngine.open(device, own, DIRECT).orElseThrow()) {
            var plain = new CompletableFuture<List<String>>();
            assertThat(ring.submit(new BlockRequest().asWrite(0, 1, aligned(1, 1), false)
                    .onCompletion((_, _) -> plain.complete(List.copyOf(device.told)))))
                    .isTrue();
            assertThat(plain.get(60, TimeUnit.SECONDS)).isEmpty();
            var stable = new CompletableFuture<List<String>>();
            assertThat(ring.submit(new BlockRequest().asWrite(0, 1, aligned(1, 1), true)
                    .onCompletion((_, _) -> stable.complete(List.copyOf(device.told)))))
                    .isTrue();
            assertThat(stable.get(60, TimeUnit.SECONDS)).singleElement().asString()
                    .contains("FUA", "error 9"); // EBADF
        }
    }

    @Test
    void shouldKeepTheDataOfManyThreads() throws Exception {
        try (FileDevice device = open()) {
            long seed = Seed.next();
            var failures = new ArrayList<Throwable>();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                int first = t * (BLOCKS / 8);
                var random = new Random(seed + t);
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        new Region(device, first, BLOCKS / 8, random).run(600);
                    } catch (Throwable e) {
                        synchronized (failures) {
                            failures.add(e);
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).as("seed %d", seed).isEmpty();
        }
    }

    /** Blocks of one thread, of which it knows what is in them; up to eight requests at once over different blocks. */
    private record Region(FileDevice device, int first, int count, Random random, byte[] values,
            Arena arena) {
        private static final int AT_ONCE = 8;

        Region(FileDevice device, int first, int count, Random random) {
            this(device, first, count, random, new byte[count], Arena.ofAuto());
        }

        void run(int rounds) throws Exception {
            MemorySegment memory = arena.allocate((long) count * BLOCK + 8, BLOCK);
            for (int round = 0; round < rounds; round++) {
                var ends = new ArrayList<CompletableFuture<Void>>();
                int unit = count / AT_ONCE;
                List<Runnable> checks = new ArrayList<>();
                for (int i = 0; i < AT_ONCE; i++) {
                    int from = i * unit + random.nextInt(unit / 2);
                    int blocks = 1 + random.nextInt(unit / 2);
                    // Some memory is not aligned, and goes to the workers.
                    MemorySegment buffer = memory.asSlice(
                            (long) from * BLOCK + (random.nextInt(8) == 0 ? 8 : 0),
                            (long) blocks * BLOCK);
                    if (random.nextBoolean()) {
                        byte value = (byte) random.nextInt(1, 128);
                        for (int b = 0; b < blocks; b++) {
                            values[from + b] = value;
                        }
                        buffer.fill(value);
                        ends.add(random.nextInt(16) == 0
                                ? submitThrough(from, blocks, buffer)
                                : device.submitWrite(first + from, buffer));
                    } else {
                        buffer.fill((byte) -1);
                        ends.add(device.submitRead(first + from, buffer));
                        checks.add(() -> check(from, blocks, buffer));
                    }
                }
                for (CompletableFuture<Void> end : ends) {
                    end.get(60, TimeUnit.SECONDS);
                }
                checks.forEach(Runnable::run);
            }
        }

        private CompletableFuture<Void> submitThrough(int from, int blocks, MemorySegment buffer) {
            var end = new CompletableFuture<Void>();
            device.submit(new BlockRequest().asWrite(first + from, blocks, buffer, true)
                    .onCompletion((_, failure) -> {
                        if (failure == null) {
                            end.complete(null);
                        } else {
                            end.completeExceptionally(failure);
                        }
                    }));
            return end;
        }

        private void check(int from, int blocks, MemorySegment buffer) {
            MemorySegment expected = arena.allocate(BLOCK);
            for (int b = 0; b < blocks; b++) {
                expected.fill(values[from + b]);
                assertThat(buffer.asSlice((long) b * BLOCK, BLOCK).mismatch(expected))
                        .as("block %d", first + from + b).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldEndEveryRequestOnceWhenItIsClosed() throws Exception {
        for (int round = 0; round < 20; round++) {
            int threads = 4;
            int each = 700;
            var ends = new AtomicIntegerArray(threads * each);
            var unexpected = new AtomicInteger();
            var done = new CountDownLatch(threads * each);
            var half = new CountDownLatch(threads * each / 4);
            FileDevice device = open();
            List<Thread> submitters = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int from = t * each;
                submitters.add(Thread.ofPlatform().start(() -> {
                    for (int i = from; i < from + each; i++) {
                        int number = i;
                        MemorySegment buffer = aligned(1, i);
                        var request = new BlockRequest().onCompletion((_, failure) -> {
                            ends.incrementAndGet(number);
                            if (failure != null && !(failure instanceof DeviceGoneException)) {
                                unexpected.incrementAndGet();
                            }
                            half.countDown();
                            done.countDown();
                        });
                        device.submit(i % 2 == 0
                                ? request.asRead(i % BLOCKS, 1, buffer)
                                : request.asWrite(i % BLOCKS, 1, buffer, false));
                    }
                }));
            }
            assertThat(half.await(60, TimeUnit.SECONDS)).isTrue();
            device.close();
            for (Thread submitter : submitters) {
                submitter.join();
            }
            assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(unexpected).hasValue(0);
            for (int i = 0; i < ends.length(); i++) {
                assertThat(ends.get(i)).isEqualTo(1);
            }
        }
    }

    @Test
    void shouldCloseFromACompletionAndEndWhatIsInFlight() throws Exception {
        FileDevice device = open();
        int count = 300;
        var ends = new CountDownLatch(count);
        var closed = new CompletableFuture<Thread>();
        for (int i = 0; i < count; i++) {
            boolean closes = i == 20;
            device.submit(new BlockRequest().asRead(i, 1, aligned(1, 0))
                    .onCompletion((_, _) -> {
                        if (closes) {
                            try {
                                device.close();
                                closed.complete(Thread.currentThread());
                            } catch (StorageException e) {
                                closed.completeExceptionally(e);
                            }
                        }
                        ends.countDown();
                    }));
        }
        Thread ring = closed.get(60, TimeUnit.SECONDS);
        assertThat(ring.getName()).endsWith(" ring");
        assertThat(ends.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(ring.join(Duration.ofSeconds(60))).isTrue();
        // Its lock is free, and the next process to take it keeps it.
        open().close();
    }

    @Test
    void shouldFindTheWordsForWhatIsWrong() throws Exception {
        try (FileDevice device = open();
                var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            requireFailure(device.submitRead(BLOCKS, aligned(1, 0)), OutOfRangeException.class,
                    "on a device of " + BLOCKS + " blocks");
            Arena arena = Arena.ofShared();
            MemorySegment closed = arena.allocate(BLOCK, BLOCK);
            arena.close();
            requireFailure(device.submitRead(0, closed), InvalidRequestException.class,
                    "the buffer cannot be used");
            try (Arena confined = Arena.ofConfined()) {
                requireFailure(device.submitRead(0, confined.allocate(BLOCK, BLOCK)),
                        InvalidRequestException.class, "the buffer cannot be used");
            }
            channel.truncate(5 * BLOCK);
            requireFailure(device.submitRead(4, aligned(2, 0)), MediumException.class,
                    "was truncated");
            requireFailure(device.submitRead(9, aligned(1, 0)), MediumException.class,
                    "was truncated");
            device.submitRead(3, aligned(2, 0)).get(60, TimeUnit.SECONDS);
        }
    }

    private static void requireFailure(CompletableFuture<Void> end,
            Class<? extends StorageException> failure, String message) {
        assertThatThrownBy(() -> end.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class).cause().isInstanceOf(failure)
                .hasMessageContaining(message);
    }

    @Test
    void shouldRejectMoreThanItLetsWait() throws Exception {
        try (FileDevice device = open()) {
            var started = new CountDownLatch(1);
            var go = new CountDownLatch(1);
            MemorySegment buffer = aligned(1, 0);
            device.submit(new BlockRequest().asRead(0, 1, buffer).onCompletion((_, _) -> {
                started.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
            assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
            var waiting = new ArrayList<CompletableFuture<Void>>();
            for (int i = 0; i < RingEngine.MAX_WAITING; i++) {
                waiting.add(device.submitRead(i % BLOCKS, buffer));
                assertThat(waiting.getLast()).isNotDone();
            }
            assertThat(device.submitRead(0, buffer).exceptionNow())
                    .isInstanceOf(BusyException.class);
            go.countDown();
            for (CompletableFuture<Void> read : waiting) {
                read.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldContinueAfterACompletionThatThrows() throws Exception {
        try (FileDevice device = open()) {
            device.submit(new BlockRequest().asRead(0, 1, aligned(1, 0)).onCompletion((_, _) -> {
                throw new IllegalStateException("a completion of a test");
            }));
            assertThat(endsOn(device, aligned(1, 0))).endsWith(" ring");
        }
    }

    @Test
    void shouldCompleteCompareAndWriteUnderLoad() throws Exception {
        try (FileDevice device = open()) {
            var stop = new AtomicBoolean();
            int depth = 32;
            var stopped = new CountDownLatch(depth);
            for (int i = 0; i < depth; i++) {
                MemorySegment buffer = aligned(1, 0);
                device.submit(new BlockRequest().asRead(i, 1, buffer)
                        .onCompletion((request, failure) -> {
                            if (stop.get() || failure != null) {
                                stopped.countDown();
                            } else {
                                device.submit(request);
                            }
                        }));
            }
            for (int i = 0; i < 50; i++) {
                MemorySegment both = aligned(2, i);
                both.asSlice(BLOCK).fill((byte) (i + 1));
                device.compareAndWrite(100, both);
            }
            stop.set(true);
            assertThat(stopped.await(60, TimeUnit.SECONDS)).isTrue();
            MemorySegment back = aligned(1, 0);
            device.submitRead(100, back).get(60, TimeUnit.SECONDS);
            assertThat(back.mismatch(aligned(1, 50))).isEqualTo(-1);
        }
    }

    @Test
    void shouldMakeAForcedWriteStable() throws Exception {
        try (LoopDisk disk = LoopDisk.over(folder.resolve("image"), 16 << 20)) {
            Path cache = Path.of("/sys/class/block", disk.device().getFileName().toString(),
                    "queue/write_cache");
            assumeTrue(Files.readString(cache).strip().equals("write back"),
                    "this disk has no cache to flush");
            try (FileDevice device = DiskDevice.open(disk.device(),
                    FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT))) {
                assertThat(device.engine()).isEqualTo("io_uring");
                MemorySegment data = aligned(1, 7);
                long before = flushes(disk.device());
                device.submitWrite(0, data).get(60, TimeUnit.SECONDS);
                assertThat(flushes(disk.device())).isEqualTo(before);
                var end = new CountDownLatch(1);
                device.submit(new BlockRequest().asWrite(8, 8, data, true)
                        .onCompletion((_, _) -> end.countDown()));
                assertThat(end.await(60, TimeUnit.SECONDS)).isTrue();
                assertThat(flushes(disk.device())).isGreaterThan(before);
                assertThat(device.supports(Capability.FUA)).isTrue();
            }
        }
    }

    /** Field 16 of the kernel's statistics of a disk. */
    private static long flushes(Path disk) throws IOException {
        String fields = Files.readString(
                Path.of("/sys/class/block", disk.getFileName().toString(), "stat")).strip();
        return Long.parseLong(fields.split("\\s+")[15]);
    }
}
