package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.spi.RequestCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an io_uring that fails while a request is in flight: a read of an empty FIFO. */
class RingFailureTest {
    private static final int BLOCK = 4096;
    private static final FileOptions DIRECT = FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT);

    @TempDir
    Path folder;
    private Path fifo;
    private LinuxFile file;
    private Calls calls;
    private final Device device = new Device();
    private FastPath ring;

    @BeforeEach
    void open() throws Exception {
        calls = new Calls(RingCalls.LOOKUP.orElse(null));
        fifo = folder.resolve("fifo");
        LoopDisk.run(List.of("mkfifo", fifo.toString()));
        file = LinuxFile.open(fifo, true, false).orElseThrow();
        ring = RingEngine.open(device, file, DIRECT, () -> Ring.open(8, calls.failing()))
                .orElse(null);
        assumeTrue(ring != null, "no io_uring here");
    }

    @AfterEach
    void close() {
        if (ring != null) {
            ring.close();
        }
        file.close();
    }

    /** Lets io_uring_enter(2) fail as often as it is told to, from the first call on after a request was taken. */
    static final class Calls {
        private static final long ENTER = 426;
        private static final int GETEVENTS = 1;
        private static final VarHandle ERRNO = Errno.STATE
                .varHandle(MemoryLayout.PathElement.groupElement("errno"));

        private final RingCalls real;
        private volatile int failures;
        /** The wake of the ring, and a request. */
        private final CountDownLatch taken = new CountDownLatch(2);
        /** Whether the second request is submitted: a call that failed before would close the ring to it. */
        private final CountDownLatch submitted = new CountDownLatch(1);
        /** Whether the engine waits for the kernel to let go of the ring, and may learn that it has. */
        private final CountDownLatch awaited = new CountDownLatch(1);
        private final CountDownLatch letGo = new CountDownLatch(1);

        Calls(RingCalls real) {
            assumeTrue(real != null, "no native access to Linux");
            this.real = real;
        }

        RingCalls failing() throws IOException {
            try {
                MethodHandle handle = MethodHandles.lookup().bind(this, "call",
                        MethodType.methodType(long.class, MemorySegment.class, long.class,
                                long.class, long.class, long.class, long.class, long.class,
                                long.class));
                MethodHandle read = MethodHandles.lookup().bind(this, "read",
                        real.readHandle().type());
                MethodHandle enter = MethodHandles.lookup().bind(this, "enter",
                        real.enterHandle().type());
                return new RingCalls(handle, enter, real.mmapHandle(), real.munmapHandle(),
                        real.eventfdHandle(), real.pipeHandle(), read, real.writeHandle(),
                        real.closeHandle());
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        long read(MemorySegment state, int descriptor, long into, long bytes) throws Throwable {
            awaited.countDown();
            letGo.await();
            return (long) real.readHandle().invokeExact(state, descriptor, into, bytes);
        }

        long enter(long call, long ring, long submit, long ends, long flags, long argument,
                long bytes) throws Throwable {
            return isFailing()
                    ? -1
                    : call(MemorySegment.NULL, call, ring, submit, ends, flags, argument, bytes);
        }

        private boolean isFailing() { return taken.getCount() == 0 && failures > 0; }

        long call(MemorySegment state, long call, long ring, long submit, long ends, long flags,
                long argument, long bytes) throws Throwable {
            if (call != ENTER) {
                return (long) real.syscallHandle().invokeExact(state, call, ring, submit, ends,
                        flags, argument,
                        bytes);
            }
            if (isFailing()) {
                submitted.await();
                failures--;
                ERRNO.set(state, 0L, Errno.EIO);
                return -1;
            }
            // In two calls, so that the test knows of what was taken while the second one waits.
            MethodHandle next = real.enterHandle();
            long count = submit == 0
                    ? 0
                    : (long) next.invokeExact(call, ring, submit, 0L, 0L, 0L, 0L);
            for (long i = 0; i < count; i++) {
                taken.countDown();
            }
            if ((flags & GETEVENTS) != 0 && count == submit) {
                long _ = (long) next.invokeExact(call, ring, 0L, ends, flags, argument, bytes);
            }
            return count;
        }
    }

    private static final class Device implements RingEngine.Device {
        private final RequestLock alone = new RequestLock();
        private volatile boolean lost;
        private final List<BlockRequest> handedOver = new CopyOnWriteArrayList<>();
        private final AtomicReference<Consumer<BlockRequest>> workers = new AtomicReference<>(
                RequestCompletion::succeed);

        @Override
        public boolean isDirect(BlockRequest request) { return true; }

        @Override
        public boolean isLost() { return lost; }

        @Override
        public long offsetBytes(BlockRequest request) { return 0; }

        @Override
        public RequestLock alone() { return alone; }

        @Override
        public void submitToWorkers(BlockRequest request) {
            handedOver.add(request);
            workers.get().accept(request);
        }

        @Override
        public void stableWriteFailed(String reason) { throw new AssertionError(reason); }
    }

    private static final class Read {
        private final BlockRequest request;
        private final CompletableFuture<Void> end = new CompletableFuture<>();

        Read(long lba) {
            MemorySegment buffer = Arena.ofAuto().allocate(BLOCK, BLOCK);
            request = new BlockRequest().asRead(lba, 1, buffer).onCompletion((_, failure) -> {
                if (failure == null) {
                    end.complete(null);
                } else {
                    end.completeExceptionally(failure);
                }
            });
        }
    }

    /** Two reads: the kernel has taken the first, and its next answer is an error, so it has not taken the second. */
    private Read[] reads(int failures) throws Exception {
        var first = new Read(0);
        var second = new Read(1);
        calls.failures = failures;
        assertThat(ring.submit(first.request)).isTrue();
        assertThat(calls.taken.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(ring.submit(second.request)).isTrue();
        calls.submitted.countDown();
        second.end.get(60, TimeUnit.SECONDS);
        assertThat(device.handedOver).contains(second.request);
        return new Read[]{first, second};
    }

    @Test
    void shouldNeitherCompleteNorRepeatRequestsTheKernelMayStillExecute() throws Exception {
        Read first = reads(Integer.MAX_VALUE)[0];
        assertThat(calls.awaited.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(device.handedOver).doesNotContain(first.request);
        assertThat(first.end).isNotDone();
        assertThat(ring.submit(new Read(2).request)).isFalse();
        calls.letGo.countDown();
        first.end.get(60, TimeUnit.SECONDS);
        assertThat(device.handedOver).contains(first.request);
        ring.close();
        device.alone.unlockWrite(device.alone.writeLock());
        requireNotRead(first);
    }

    /** The kernel has cancelled the read, and takes nothing from the FIFO. */
    private void requireNotRead(Read read) throws IOException {
        try (FileChannel both = FileChannel.open(fifo, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            assertThat(both.write(ByteBuffer.allocate(BLOCK).put(0, (byte) 7))).isEqualTo(BLOCK);
            ByteBuffer back = ByteBuffer.allocate(BLOCK);
            assertThat(both.read(back)).isEqualTo(BLOCK);
            assertThat(back.get(0)).isEqualTo((byte) 7);
        }
        assertThat(read.request.buffer().get(ValueLayout.JAVA_BYTE, 0)).isZero();
    }

    @Test
    void shouldEndEachRequestWhereNoWorkerTakesIt() throws Exception {
        device.workers.set(_ -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        calls.letGo.countDown();
        var first = new Read(0);
        var second = new Read(1);
        calls.failures = Integer.MAX_VALUE;
        assertThat(ring.submit(first.request)).isTrue();
        assertThat(calls.taken.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(ring.submit(second.request)).isTrue();
        calls.submitted.countDown();
        for (Read read : List.of(first, second)) {
            assertThatThrownBy(() -> read.end.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(BusyException.class);
        }
        ring.close();
        device.alone.unlockWrite(device.alone.writeLock());
    }

    @Test
    void shouldEndEachRequestWhereACompletionClosesTheRingThatFails() throws Exception {
        var threads = new AtomicReference<Thread>();
        device.workers.set(request -> {
            if (threads.compareAndSet(null, Thread.currentThread())) {
                ring.close();
            }
            RequestCompletion.succeed(request);
        });
        calls.letGo.countDown();
        Read[] both = reads(Integer.MAX_VALUE);
        both[0].end.get(60, TimeUnit.SECONDS);
        ring.close();
        assertThat(device.handedOver).containsExactlyInAnyOrder(both[0].request, both[1].request);
        device.alone.unlockWrite(device.alone.writeLock());
    }

    /** It may have been lost after the request was submitted. */
    @Test
    void shouldPutNothingIntoTheRingOnceTheFileIsLost() throws Exception {
        device.lost = true;
        var read = new Read(0);
        assertThat(ring.submit(read.request)).isTrue();
        read.end.get(60, TimeUnit.SECONDS);
        assertThat(device.handedOver).containsExactly(read.request);
    }

    @Test
    void shouldWaitForTheEndsOfWhatTheKernelExecutesBeforeWorkersContinueAlone() throws Exception {
        Read first = reads(1)[0];
        assertThat(device.handedOver).doesNotContain(first.request);
        try (FileChannel writer = FileChannel.open(fifo, StandardOpenOption.WRITE)) {
            assertThat(writer.write(ByteBuffer.allocate(BLOCK).put(0, (byte) 7))).isEqualTo(BLOCK);
        }
        first.end.get(60, TimeUnit.SECONDS);
        assertThat(first.request.buffer().get(ValueLayout.JAVA_BYTE, 0))
                .isEqualTo((byte) 7);
        ring.close();
        assertThat(device.handedOver).doesNotContain(first.request);
        device.alone.unlockWrite(device.alone.writeLock());
    }
}
