package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Executes aligned reads and writes submitted to a device through an io_uring. One thread owns it: a single system call
 * submits all requests since the last one and waits for completions, so that calls are batched under load. A submit
 * makes a system call only to wake the thread.
 *
 * <p>A request that does not succeed completely is passed to the device's workers, which repeat all of it and report
 * the error: a read or write may be executed twice, but never before the kernel has completed it, because a late read
 * would overwrite a reused buffer, and a late write newer data. If the ring fails and completions are lost, it is
 * closed: the kernel then signals when it has released all requests, but not their results.
 */
final class RingEngine implements FastPath {
    /** Requests that may wait before submit refuses more with {@link BusyException}. */
    static final int MAX_WAITING = Workers.MAX_WAITING;
    /** Entries of the ring; one of them is reserved for waking. */
    static final int ENTRIES = 512;

    private static final System.Logger LOG = System.getLogger(RingEngine.class.getName());
    /**
     * A turn of the thread costs more than an end of a request. So while ends come in numbers it waits for one of so
     * many in flight, but not for more than a few, and needs no wake-up meanwhile, for it is back soon.
     */
    private static final int SHARE_OF_ENDS = 8;
    private static final int MAX_ENDS = 4;
    /**
     * Maximum wait for more completions. A short time would not pay off, because the kernel programs a timer for each
     * wait.
     */
    private static final long PATIENCE_NS = 2_000_000;

    private static final int AWAKE = 0;
    private static final int ASLEEP = 1;

    /** Callbacks of the device: which requests the ring may execute, and where others go. */
    interface Device {
        /** Whether the request is a read or write of this device that needs no copy. */
        boolean isDirect(BlockRequest request);

        /** Whether the file must no longer be used. May become true at any time, permanently. */
        boolean isLost();

        /** The place of its first byte. */
        long offsetBytes(BlockRequest request);

        /** The lock of which a request in flight holds a share. */
        RequestLock alone();

        /** Runs a request the blocking way. */
        void submitToWorkers(BlockRequest request);

        /** A write that was to be stable at its end has failed, after which no earlier write is known to be stable. */
        void stableWriteFailed(String reason);
    }

    /** How a ring is come by. */
    @FunctionalInterface
    interface Opener {
        Ring open() throws IOException;
    }

    private final Device device;
    private final Ring ring;
    /** Opened for direct I/O, which the ring's requests use. Stays its owner's. */
    private final LinuxFile file;
    private final Thread thread;
    private final RequestQueue waiting = new RequestQueue(MAX_WAITING);
    /** Whether the thread has to be woken. Another thread that changes it to AWAKE must then wake it. */
    private final AtomicInteger state = new AtomicInteger(AWAKE);

    // These are the thread's own.
    private final @Nullable BlockRequest[] running;
    /** Places of {@link #running} that are free, as many as {@link #free} says. */
    private final int[] freePlaces;
    private int free;
    /** Of the lock, for all that is in flight. */
    private long share;
    /** Another thread has woken this one, or is about to, and the end of that was not read yet. */
    private boolean wakeOwed;
    /** The kernel has returned an error; nothing is queued any longer. */
    private boolean broken;
    /** Ends read in the last turn. */
    private int lastEnds;

    private RingEngine(Device device, Ring ring, LinuxFile file) {
        this.device = device;
        this.ring = ring;
        this.file = file;
        this.free = ring.entries() - 1;
        this.running = new BlockRequest[free];
        this.freePlaces = new int[free];
        for (int i = 0; i < free; i++) {
            freePlaces[i] = i;
        }
        this.thread = Thread.ofPlatform().daemon().name("lunar " + device + " ring")
                .unstarted(this::run);
    }

    /**
     * An engine for the file of a device, or none where the kernel or the options have none.
     *
     * @param file descriptor for direct I/O, to be closed after the engine; null if there is none
     */
    static Optional<FastPath> open(Device device, @Nullable LinuxFile file, FileOptions options) {
        return open(device, file, options, () -> Ring.open(ENTRIES));
    }

    static Optional<FastPath> open(Device device, @Nullable LinuxFile file, FileOptions options,
            Opener opener) {
        String why;
        if (options.io() != FileOptions.Io.DIRECT) {
            why = "not opened with io=direct";
        } else if (!options.ring()) {
            why = "opened with ring=false";
        } else if (file == null) {
            why = "direct I/O is not supported on this processor";
        } else {
            try {
                var engine = new RingEngine(device, opener.open(), file);
                engine.start();
                LOG.log(System.Logger.Level.DEBUG, "{0}: reads and writes by io_uring", device);
                return Optional.of(engine);
            } catch (IOException e) {
                why = String.valueOf(e.getMessage());
            }
        }
        LOG.log(System.Logger.Level.DEBUG, "{0}: reads and writes by workers: {1}", device, why);
        return Optional.empty();
    }

    private void start() throws IOException {
        try {
            thread.start();
        } catch (OutOfMemoryError e) { // at the limit of threads
            ring.close();
            throw new IOException("its thread cannot be started: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean submit(BlockRequest request) {
        MemorySegment buffer = request.buffer();
        // A worker reports the error of memory that is closed or confined to another thread.
        if (!device.isDirect(request) || !buffer.isAccessibleBy(thread)
                || !buffer.scope().isAlive()) {
            return false;
        }
        return switch (waiting.offer(request)) {
            case TAKEN -> {
                wake();
                yield true;
            }
            case FULL -> {
                RequestCompletion.fail(request, new BusyException(
                        request + ": " + MAX_WAITING + " requests wait already"));
                yield true;
            }
            case CLOSED -> false;
        };
    }

    private void wake() {
        if (state.get() == ASLEEP && state.compareAndSet(ASLEEP, AWAKE)) {
            ring.wake();
        }
    }

    private void run() {
        try {
            ring.start();
            serve();
        } catch (IOException | RuntimeException | Error e) {
            giveUp(e);
        }
        if (!broken) { // else another thread may be about to wake it
            ring.close();
        }
    }

    /**
     * Runs until it is closed and no request is left. A completion may close the device and so call this method
     * recursively.
     */
    private void serve() throws IOException {
        while (!broken && (!waiting.isClosed() || !waiting.isEmpty() || isBusy())) {
            begin();
            await();
            finish();
        }
    }

    private boolean isBusy() { return free < running.length || wakeOwed; }

    /** Queues waiting requests in the ring while there are free entries. */
    private void begin() {
        boolean closed = waiting.isClosed();
        while (closed || free > 0) {
            BlockRequest request = waiting.poll();
            if (request == null) {
                return;
            }
            if (closed) {
                RequestCompletion.completeGuarded(request,
                        new DeviceGoneException(request + ": " + device + " is closed"));
            } else if (!device.isLost() && mayBegin()) {
                put(request);
            } else {
                handOver(request); // to where it can wait, or fail
            }
        }
    }

    /** All requests in flight have one share, which is given back as soon as a thread waits to be alone. */
    private boolean mayBegin() {
        if (free < running.length) {
            return !device.alone().isAwaited();
        }
        share = device.alone().tryReadLock();
        return share != 0;
    }

    private void put(BlockRequest request) {
        int place = freePlaces[--free];
        running[place] = request;
        long at = device.offsetBytes(request);
        long address = request.buffer().address();
        int bytes = (int) request.buffer().byteSize();
        if (request.operation() == BlockRequest.Operation.READ) {
            ring.read(file.descriptor(), at, address, bytes, place);
        } else {
            ring.write(file.descriptor(), at, address, bytes, request.fua(), place);
        }
    }

    /** Submits queued entries, and waits for a completion or a new request, unless there is one. */
    private void await() throws IOException {
        if (ring.hasEnd() && !ring.hasPending()) {
            return;
        }
        int together = Math.min(MAX_ENDS, (running.length - free) / SHARE_OF_ENDS);
        if (together > 1 && lastEnds > 1 && ring.isTimed()) {
            ring.enter(together, PATIENCE_NS);
            return;
        }
        boolean wakeable = !wakeOwed && free > 0 && !waiting.isClosed();
        if (!wakeable) {
            if (isBusy()) { // something will end
                ring.enter();
            }
            return;
        }
        // A thread that submits a request after this sees it; earlier requests are visible here.
        state.set(ASLEEP);
        try {
            if (waiting.isEmpty() && !waiting.isClosed()) {
                ring.enter();
            }
        } finally {
            wakeOwed = !state.compareAndSet(ASLEEP, AWAKE);
        }
    }

    private void finish() {
        lastEnds = 0;
        while (ring.nextEnd()) {
            long named = ring.named();
            int result = ring.result();
            lastEnds++;
            if (named != Ring.WOKEN) {
                ended((int) named, result);
                continue;
            }
            if (result == Long.BYTES) {
                wakeOwed = false;
            }
            ring.expectWake();
        }
    }

    private void ended(int place, int result) {
        BlockRequest request = take(place);
        if (request == null) {
            throw new AssertionError("completion of an unknown entry at " + place);
        }
        if (result == request.buffer().byteSize()) {
            RequestCompletion.completeGuarded(request, null);
        } else {
            repeat(request, Errno.mayHaveLostWrites(-result)
                    ? "a write with FUA ended with " + Errno.text(-result)
                    : null);
        }
    }

    /**
     * Passes a request that the kernel has completed to a worker, which repeats it.
     *
     * @param loss why a write with FUA may have lost earlier ones; null if it has not
     */
    private void repeat(BlockRequest request, @Nullable String loss) {
        if (request.fua() && loss != null) {
            try {
                device.stableWriteFailed(loss);
            } catch (RuntimeException | Error e) { // nothing remembers the loss but this answer
                RequestCompletion.completeGuarded(request,
                        new LostWritesException(request + " on " + device + ": " + loss, e));
                return;
            }
        }
        handOver(request);
    }

    private void handOver(BlockRequest request) {
        try {
            device.submitToWorkers(request);
        } catch (RuntimeException | Error e) {
            RequestCompletion.completeGuarded(request,
                    new BusyException(request + ": no worker of " + device + " is available", e));
        }
    }

    private @Nullable BlockRequest take(int place) {
        BlockRequest request = running[place];
        if (request != null) {
            running[place] = null;
            freePlaces[free++] = place;
            if (free == running.length) {
                giveShareBack();
            }
        }
        return request;
    }

    private void giveShareBack() {
        if (share != 0) {
            device.alone().unlock(share);
            share = 0;
        }
    }

    /**
     * Abandons the ring after an unexpected error. Entries that the kernel has not consumed are passed to the workers,
     * which execute all requests from now on. They are removed first, because a completion may close the device, which
     * waits for the kernel's requests.
     */
    private void giveUp(Throwable cause) {
        broken = true;
        wakeOwed = false;
        waiting.close();
        try {
            List<BlockRequest> takenBack = takeBack();
            LOG.log(System.Logger.Level.ERROR,
                    device + ": continuing with workers, without io_uring", cause);
            takenBack.forEach(this::handOver);
            while (!waiting.isEmpty()) {
                BlockRequest request = waiting.poll();
                if (request != null) {
                    handOver(request);
                }
            }
        } finally {
            settle();
        }
    }

    private List<BlockRequest> takeBack() {
        var requests = new ArrayList<BlockRequest>(running.length);
        for (long name = ring.takeBack(); name != Ring.NOTHING; name = ring.takeBack()) {
            BlockRequest request = name == Ring.WOKEN ? null : take((int) name);
            if (request != null) {
                requests.add(request);
            }
        }
        return requests;
    }

    /**
     * Waits until the kernel has completed its requests. If completions are lost, the ring is closed, and the workers
     * repeat its requests. May be called recursively by a completion that closes the device.
     */
    private void settle() {
        Throwable failure = null;
        while (failure == null && !ring.isClosed()) {
            try {
                readEnds();
                if (free == running.length) {
                    return;
                }
                ring.enter();
            } catch (IOException | RuntimeException | Error e) {
                failure = e;
            }
        }
        if (failure == null || ring.isClosed()) {
            repeatAll();
            return;
        }
        try {
            LOG.log(System.Logger.Level.ERROR,
                    device + ": closing the io_uring, and waiting until the"
                            + " kernel has released " + (running.length - free)
                            + " requests, which workers then repeat",
                    failure);
        } finally {
            ring.closeAndAwaitEnds();
            repeatAll();
        }
    }

    /** Of a ring that was closed. */
    private void repeatAll() {
        for (int place = 0; place < running.length; place++) {
            BlockRequest request = take(place);
            if (request != null) {
                repeat(request, "a write with FUA was in an io_uring that failed");
            }
        }
    }

    private void readEnds() {
        while (ring.nextEnd()) {
            if (ring.named() != Ring.WOKEN) {
                ended((int) ring.named(), ring.result());
            }
        }
    }

    /** The ring's thread may close, too, from a completion: then it ends here what is in flight. */
    @Override
    public void close() {
        waiting.close();
        wake();
        if (Thread.currentThread().equals(thread)) {
            try {
                serve();
            } catch (IOException | RuntimeException | Error e) {
                giveUp(e);
            }
            if (broken) {
                settle(); // a request may have ended only now, in giveUp
            }
        } else {
            Workers.awaitEnd(thread);
        }
    }

    @Override
    public String toString() { return "io_uring"; }
}
