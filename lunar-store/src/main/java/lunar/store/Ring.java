package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The two rings of an io_uring(7) and its submission entries, in memory shared with the kernel. Entries are queued,
 * submitted by {@link #enter}, and their completions are read one by one. Confined to one thread from {@link #start}
 * on, except {@link #wake}.
 *
 * <p>The layouts below were checked against C's offsetof of {@code linux/io_uring.h}. They assume little-endian byte
 * order, like all supported processors.
 */
final class Ring implements AutoCloseable {
    /** Names the end that {@link #wake} brings about. */
    static final long WOKEN = -1;
    /** Returned by {@link #takeBack} if there is no entry. */
    static final long NOTHING = -2;

    // struct io_uring_params: 120 bytes; sq_off and cq_off stand at 40 and 80.
    private static final int PARAMS_BYTES = 120;
    private static final int PARAMS_SQ_ENTRIES = 0;
    private static final int PARAMS_CQ_ENTRIES = 4;
    private static final int PARAMS_FLAGS = 8;
    private static final int PARAMS_FEATURES = 20;
    // struct io_sqring_offsets
    private static final int SQ_HEAD = 40;
    private static final int SQ_TAIL = 40 + 4;
    private static final int SQ_MASK = 40 + 8;
    private static final int SQ_ARRAY = 40 + 24;
    // struct io_cqring_offsets
    private static final int CQ_HEAD = 80;
    private static final int CQ_TAIL = 80 + 4;
    private static final int CQ_MASK = 80 + 8;
    private static final int CQ_CQES = 80 + 20;
    // struct io_uring_sqe: opcode u8 0, flags u8 1, ioprio u16 2, fd s32 4; len u32 24, rw_flags u32 28; the rest is 0
    private static final int SQE_BYTES = 64;
    private static final int SQE_OPCODE_AND_FD = 0;
    private static final int SQE_OFFSET = 8;
    private static final int SQE_ADDRESS = 16;
    private static final int SQE_LENGTH_AND_FLAGS = 24;
    private static final int SQE_USER_DATA = 32;
    // struct io_uring_cqe
    private static final int CQE_BYTES = 16;
    private static final int CQE_USER_DATA = 0;
    private static final int CQE_RESULT = 8;

    private static final long OFFSET_RINGS = 0;
    private static final long OFFSET_SQES = 0x10000000;
    private static final int SETUP_R_DISABLED = 1 << 6;
    private static final int SETUP_SUBMIT_ALL = 1 << 7;
    private static final int SETUP_SINGLE_ISSUER = 1 << 12;
    private static final int SETUP_DEFER_TASKRUN = 1 << 13;
    // struct io_uring_getevents_arg, of which only the address of the time is set, and struct __kernel_timespec
    private static final int GETEVENTS_ARG_BYTES = 24;
    private static final int GETEVENTS_TIME = 16;
    private static final int TIME_BYTES = 16;
    private static final int TIME_NANOSECONDS = 8;

    private static final int REGISTER_FILES = 2;
    private static final int REGISTER_ENABLE_RINGS = 12;
    private static final int ENTER_GETEVENTS = 1;
    private static final int ENTER_EXT_ARG = 1 << 3;
    private static final int OP_READ = 22;
    private static final int OP_WRITE = 23;
    private static final int RWF_DSYNC = 0x2;
    /**
     * IORING_FEAT_SINGLE_MMAP, NODROP, RW_CUR_POS and FAST_POLL, in Linux 5.7. The third was introduced together with
     * IORING_OP_READ and WRITE, and with the last a read of an eventfd waits without a kernel thread.
     */
    private static final int FEATURES = 1 | 1 << 1 | 1 << 3 | 1 << 5;

    /** IORING_FEAT_EXT_ARG, in Linux 5.11: a wait may have an end. */
    private static final int FEATURE_EXT_ARG = 1 << 8;

    private static final int EPERM = 1;
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final int EBUSY = 16;
    private static final int EINVAL = 22;
    private static final int ENOSYS = 38;
    private static final int ETIME = 62;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final RingCalls calls;
    private final boolean deferred;
    private final boolean timed;
    /** Memory of the collector: its accesses cost nothing extra, and it outlives a late write of the kernel's. */
    private final MemorySegment state;
    private final MemorySegment one;
    private final MemorySegment wakes;
    private final MemorySegment time;
    private final MemorySegment timeArgument;
    private final int descriptor;
    private final int eventfd;
    /**
     * Read end of a pipe whose write end only the kernel has, as a file registered with the ring, and closes after the
     * last request has ended. A read of it therefore only returns at the end of the pipe.
     */
    private final int lifetime;
    private final int entries;
    private final MemorySegment rings;
    private final MemorySegment sqes;
    private final long sqHeadAt;
    private final long sqTailAt;
    private final int sqMask;
    private final long cqHeadAt;
    private final long cqTailAt;
    private final int cqMask;
    private final long cqesAt;
    private int sqTail;
    /** Queued entries that the kernel has not consumed. */
    private int pending;
    private int cqHead;
    private int cqTail;
    private long userData;
    private int result;
    private boolean closed;

    private Ring(RingCalls calls, int entries) throws IOException {
        this.calls = calls;
        Arena arena = Arena.ofAuto();
        this.state = arena.allocate(Errno.STATE);
        this.one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1);
        this.wakes = arena.allocate(ValueLayout.JAVA_LONG);
        this.time = arena.allocate(TIME_BYTES, Long.BYTES);
        this.timeArgument = arena.allocate(GETEVENTS_ARG_BYTES, Long.BYTES);
        timeArgument.set(ValueLayout.JAVA_LONG, GETEVENTS_TIME, time.address());
        MemorySegment params = arena.allocate(PARAMS_BYTES, Long.BYTES);
        // Ends are worked on when this thread asks for them, and interrupt no thread: from Linux 6.1 on.
        params.set(ValueLayout.JAVA_INT, PARAMS_FLAGS, SETUP_R_DISABLED | SETUP_SUBMIT_ALL
                | SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN);
        int opened = calls.setup(state, entries, params);
        this.deferred = opened >= 0;
        if (opened < 0 && Errno.in(state) == EINVAL) {
            params.fill((byte) 0);
            opened = calls.setup(state, entries, params);
        }
        this.descriptor = require("io_uring_setup", opened);
        int event = -1;
        int pipe = -1;
        MemorySegment mapped = MemorySegment.NULL;
        boolean complete = false;
        try {
            int features = params.get(ValueLayout.JAVA_INT, PARAMS_FEATURES);
            if ((features & FEATURES) != FEATURES) {
                throw new IOException("io_uring is too old, with features "
                        + Integer.toHexString(features) + "h");
            }
            this.timed = (features & FEATURE_EXT_ARG) != 0;
            this.entries = params.get(ValueLayout.JAVA_INT, PARAMS_SQ_ENTRIES);
            int cqEntries = params.get(ValueLayout.JAVA_INT, PARAMS_CQ_ENTRIES);
            long arrayAt = params.get(ValueLayout.JAVA_INT, SQ_ARRAY);
            this.cqesAt = params.get(ValueLayout.JAVA_INT, CQ_CQES);
            event = require("eventfd", calls.eventfd(state));
            pipe = openLifetime(arena);
            mapped = map(OFFSET_RINGS, Math.max(arrayAt + this.entries * (long) Integer.BYTES,
                    cqesAt + cqEntries * (long) CQE_BYTES));
            this.sqes = map(OFFSET_SQES, this.entries * (long) SQE_BYTES);
            this.sqHeadAt = params.get(ValueLayout.JAVA_INT, SQ_HEAD);
            this.sqTailAt = params.get(ValueLayout.JAVA_INT, SQ_TAIL);
            this.cqHeadAt = params.get(ValueLayout.JAVA_INT, CQ_HEAD);
            this.cqTailAt = params.get(ValueLayout.JAVA_INT, CQ_TAIL);
            this.sqMask = mapped.get(ValueLayout.JAVA_INT,
                    params.get(ValueLayout.JAVA_INT, SQ_MASK));
            this.cqMask = mapped.get(ValueLayout.JAVA_INT,
                    params.get(ValueLayout.JAVA_INT, CQ_MASK));
            for (int i = 0; i < this.entries; i++) { // each place of the ring has its own entry for good
                mapped.set(ValueLayout.JAVA_INT, arrayAt + i * (long) Integer.BYTES, i);
            }
            complete = true;
        } finally {
            if (!complete) {
                if (!mapped.equals(MemorySegment.NULL)) {
                    calls.unmap(mapped);
                }
                if (event >= 0) {
                    calls.close(event);
                }
                if (pipe >= 0) {
                    calls.close(pipe);
                }
                calls.close(descriptor);
            }
        }
        this.lifetime = pipe;
        this.rings = mapped;
        this.eventfd = event;
    }

    /**
     * A ring of its own.
     *
     * @param entries requests that it can hold, one of which {@link #wake} needs
     * @throws IOException if the kernel has none, or none for this process, with the reason
     */
    static Ring open(int entries) throws IOException {
        return open(entries, RingCalls.LOOKUP
                .orElseThrow(() -> new IOException("no native access to Linux")));
    }

    static Ring open(int entries, RingCalls calls) throws IOException {
        return new Ring(calls, entries);
    }

    private int require(String call, int returned) throws IOException {
        if (returned < 0) {
            int errno = Errno.in(state);
            throw new IOException(call + ": " + switch (errno) {
                case ENOSYS -> "not supported by this kernel";
                case EPERM -> "not permitted to this process";
                default -> "error " + errno;
            });
        }
        return returned;
    }

    /** Registers one end of a pipe with the ring, and returns the other end. */
    private int openLifetime(Arena arena) throws IOException {
        MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);
        require("pipe2", calls.pipe(state, ends));
        int reader = ends.getAtIndex(ValueLayout.JAVA_INT, 0);
        int writer = ends.getAtIndex(ValueLayout.JAVA_INT, 1);
        ends.set(ValueLayout.JAVA_INT, 0, writer);
        boolean registered = false;
        try {
            require("io_uring_register",
                    calls.register(state, descriptor, REGISTER_FILES, ends, 1));
            registered = true;
        } finally {
            calls.close(writer);
            if (!registered) {
                calls.close(reader);
            }
        }
        return reader;
    }

    private MemorySegment map(long offset, long bytes) throws IOException {
        long address = calls.mmap(state, descriptor, offset, bytes);
        require("mmap of io_uring", address == -1 ? -1 : 0);
        return RingCalls.at(address, bytes);
    }

    /** Makes this thread the one that uses the ring. */
    void start() throws IOException {
        if (deferred) {
            require("io_uring_register", calls.register(state, descriptor, REGISTER_ENABLE_RINGS));
        }
        expectWake();
    }

    int entries() { return entries; }

    /** Whether queued entries have not been consumed by the kernel yet. */
    boolean hasPending() {
        return pending > 0;
    }

    void read(int file, long offsetBytes, long address, int bytes, long named) {
        put(OP_READ | (long) file << 32, offsetBytes, address, bytes, named);
    }

    /** @param stable whether the data are to be on stable storage when it ends */
    void write(int file, long offsetBytes, long address, int bytes, boolean stable, long named) {
        put(OP_WRITE | (long) file << 32, offsetBytes, address,
                stable ? (long) RWF_DSYNC << 32 | bytes : bytes, named);
    }

    /** Queues the entry that {@link #wake} completes; must be queued again after each completion. */
    void expectWake() {
        read(eventfd, 0, wakes.address(), Long.BYTES, WOKEN);
    }

    private void put(long opcodeAndFd, long offset, long address, long lengthAndFlags,
            long named) {
        long at = (sqTail & sqMask) * (long) SQE_BYTES;
        sqes.set(ValueLayout.JAVA_LONG, at + SQE_OPCODE_AND_FD, opcodeAndFd);
        sqes.set(ValueLayout.JAVA_LONG, at + SQE_OFFSET, offset);
        sqes.set(ValueLayout.JAVA_LONG, at + SQE_ADDRESS, address);
        sqes.set(ValueLayout.JAVA_LONG, at + SQE_LENGTH_AND_FLAGS, lengthAndFlags);
        sqes.set(ValueLayout.JAVA_LONG, at + SQE_USER_DATA, named);
        sqTail++;
        pending++;
    }

    /**
     * Removes the last queued entry, unless the kernel has consumed it.
     *
     * @return its user data, or {@link #NOTHING} if the kernel has consumed all
     */
    long takeBack() {
        if (closed) {
            return NOTHING;
        }
        int left = sqTail - (int) INT.getAcquire(rings, sqHeadAt);
        if (left == 0) {
            pending = 0;
            return NOTHING;
        }
        sqTail--;
        pending = left - 1;
        INT.setRelease(rings, sqTailAt, sqTail);
        return sqes.get(ValueLayout.JAVA_LONG,
                (sqTail & sqMask) * (long) SQE_BYTES + SQE_USER_DATA);
    }

    /** Makes the thread of this ring return from {@link #enter}; any thread may, until it is closed. */
    void wake() {
        calls.signal(eventfd, one);
    }

    /**
     * Submits queued entries and waits for a completion. May return earlier.
     *
     * @throws IOException if the ring can no longer be used
     */
    void enter() throws IOException { enter(1, ENTER_GETEVENTS, MemorySegment.NULL); }

    /** Whether {@link #enter(int, long)} can be used. */
    boolean isTimed() { return timed; }

    /** Submits queued entries and waits for this many completions or until the timeout. May return earlier. */
    void enter(int ends, long nanoseconds) throws IOException {
        time.set(ValueLayout.JAVA_LONG, TIME_NANOSECONDS, nanoseconds);
        enter(ends, ENTER_GETEVENTS | ENTER_EXT_ARG, timeArgument);
    }

    private void enter(int ends, int flags, MemorySegment argument) throws IOException {
        INT.setRelease(rings, sqTailAt, sqTail);
        int taken = calls.enter(descriptor, pending, ends, flags, argument);
        if (taken < 0) { // again for errno, without waiting for a timeout again
            time.set(ValueLayout.JAVA_LONG, TIME_NANOSECONDS, 0);
            taken = calls.enter(state, descriptor, pending, ends, flags, argument);
        }
        if (taken >= 0) {
            pending -= taken;
            return;
        }
        switch (Errno.in(state)) {
            case EINTR, EBUSY, EAGAIN, ETIME -> {
                // Nothing was consumed: a signal, completions that must be read first, no kernel memory now; or a
                // timeout without entries.
            }
            default -> require("io_uring_enter", taken);
        }
    }

    /** Whether an end waits to be read. */
    boolean hasEnd() {
        if (cqHead == cqTail && !closed) {
            cqTail = (int) INT.getAcquire(rings, cqTailAt);
        }
        return cqHead != cqTail;
    }

    /** Reads the next completion, if any: see {@link #named} and {@link #result}. */
    boolean nextEnd() {
        if (!hasEnd()) {
            return false;
        }
        long at = cqesAt + (cqHead & cqMask) * (long) CQE_BYTES;
        userData = rings.get(ValueLayout.JAVA_LONG, at + CQE_USER_DATA);
        result = rings.get(ValueLayout.JAVA_INT, at + CQE_RESULT);
        cqHead++;
        INT.setRelease(rings, cqHeadAt, cqHead);
        return true;
    }

    /** The name of what has ended. */
    long named() { return userData; }

    /** Bytes that were moved, or an errno, negative. */
    int result() { return result; }

    boolean isClosed() { return closed; }

    /** Closes a ring in which nothing is left, and which no thread wakes any longer. */
    @Override
    public void close() {
        release();
        calls.close(lifetime);
        calls.close(eventfd);
    }

    /**
     * Closes a ring whose requests the kernel may still execute, and waits until it has ended or cancelled them all:
     * their memory is no longer accessed, but their results are unknown. Other threads may still {@link #wake} it, so
     * the eventfd stays open.
     */
    void closeAndAwaitEnds() {
        release();
        long count;
        do {
            count = calls.read(state, lifetime, wakes);
        } while (count < 0 && Errno.in(state) == EINTR);
        if (count != 0) {
            throw new AssertionError("read(2) of a ring's lifetime: " + count);
        }
        calls.close(lifetime);
    }

    /** The descriptor and the mappings are all that hold the ring. */
    private void release() {
        closed = true;
        cqTail = cqHead;
        calls.close(descriptor);
        calls.unmap(sqes);
        calls.unmap(rings);
    }
}
