package lunar.store;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Functions of libc that a ring needs. There are none for io_uring itself, which is called through syscall(2).
 * Functions that may fail store errno in a segment of the caller.
 */
record RingCalls(MethodHandle syscallHandle, MethodHandle enterHandle, MethodHandle mmapHandle,
        MethodHandle munmapHandle, MethodHandle eventfdHandle, MethodHandle pipeHandle,
        MethodHandle readHandle,
        MethodHandle writeHandle, MethodHandle closeHandle) {
    static final Optional<RingCalls> LOOKUP = lookup();

    /** The numbers of these are the same on every processor but Alpha. */
    private static final long SETUP = 425;
    private static final long ENTER = 426;
    private static final long REGISTER = 427;
    private static final int PROT_READ_WRITE = 0x1 | 0x2;
    private static final int MAP_SHARED_POPULATE = 0x01 | 0x8000;
    private static final int EFD_CLOEXEC = 0x80000;
    private static final int O_CLOEXEC = 0x80000;

    @SuppressWarnings("restricted")
    private static Optional<RingCalls> lookup() {
        if (!LinuxFile.isAvailable()) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup symbols = linker.defaultLookup();
        var syscall = symbols.find("syscall");
        var mmap = symbols.find("mmap");
        var munmap = symbols.find("munmap");
        var eventfd = symbols.find("eventfd");
        var pipe = symbols.find("pipe2");
        var read = symbols.find("read");
        var write = symbols.find("write");
        var close = symbols.find("close");
        if (syscall.isEmpty() || mmap.isEmpty() || munmap.isEmpty() || eventfd.isEmpty()
                || pipe.isEmpty() || read.isEmpty() || write.isEmpty() || close.isEmpty()) {
            return Optional.empty();
        }
        var number = ValueLayout.JAVA_INT;
        var word = ValueLayout.JAVA_LONG;
        Linker.Option errno = Linker.Option.captureCallState("errno");
        return Optional.of(new RingCalls(
                linker.downcallHandle(syscall.get(),
                        FunctionDescriptor.of(word, word, word, word, word, word, word, word),
                        errno, Linker.Option.firstVariadicArg(1)),
                linker.downcallHandle(syscall.get(),
                        FunctionDescriptor.of(word, word, word, word, word, word, word, word),
                        Linker.Option.firstVariadicArg(1)),
                linker.downcallHandle(mmap.get(),
                        FunctionDescriptor.of(word, word, word, number, number, number, word),
                        errno),
                linker.downcallHandle(munmap.get(), FunctionDescriptor.of(number, word, word)),
                linker.downcallHandle(eventfd.get(),
                        FunctionDescriptor.of(number, number, number), errno),
                linker.downcallHandle(pipe.get(), FunctionDescriptor.of(number, word, number),
                        errno),
                linker.downcallHandle(read.get(),
                        FunctionDescriptor.of(word, number, word, word), errno),
                linker.downcallHandle(write.get(),
                        FunctionDescriptor.of(word, number, word, word)),
                linker.downcallHandle(close.get(), FunctionDescriptor.of(number, number))));
    }

    /** io_uring_setup(2): a descriptor, or negative. */
    int setup(MemorySegment state, int entries, MemorySegment params) {
        return (int) syscall(state, SETUP, entries, params.address(), 0, 0, 0, 0);
    }

    /**
     * Calls io_uring_enter(2) without storing errno, and so without the slice of a segment that the JDK makes for that
     * in each call, and which not every compilation removes. Returns the number of entries consumed, or a negative
     * value.
     *
     * @param argument struct io_uring_getevents_arg if the flags require it, otherwise 0 bytes
     */
    int enter(int ring, int submit, int minComplete, int flags, MemorySegment argument) {
        try {
            return (int) (long) enterHandle.invokeExact(ENTER, (long) ring, (long) submit,
                    (long) minComplete, (long) flags, argument.address(), argument.byteSize());
        } catch (Throwable e) {
            throw new AssertionError("io_uring_enter(2)", e);
        }
    }

    /**
     * Calls io_uring_enter(2); returns the number of entries consumed, or a negative value.
     *
     * @param argument struct io_uring_getevents_arg if the flags require it, otherwise 0 bytes
     */
    int enter(MemorySegment state, int ring, int submit, int minComplete, int flags,
            MemorySegment argument) {
        return (int) syscall(state, ENTER, ring, submit, minComplete, flags, argument.address(),
                argument.byteSize());
    }

    /** io_uring_register(2) without arguments of the operation: negative where it failed. */
    int register(MemorySegment state, int ring, int operation) {
        return (int) syscall(state, REGISTER, ring, operation, 0, 0, 0, 0);
    }

    /** io_uring_register(2) with an array: negative where it failed. */
    int register(MemorySegment state, int ring, int operation, MemorySegment array, int count) {
        return (int) syscall(state, REGISTER, ring, operation, array.address(), count, 0, 0);
    }

    private long syscall(MemorySegment state, long call, long first, long second, long third,
            long fourth, long fifth, long sixth) {
        try {
            return (long) syscallHandle.invokeExact(state, call, first, second, third, fourth,
                    fifth, sixth);
        } catch (Throwable e) {
            throw new AssertionError("syscall(2)", e);
        }
    }

    /** Maps memory that is shared with the kernel: its address, or -1. */
    long mmap(MemorySegment state, int descriptor, long offset, long bytes) {
        try {
            return (long) mmapHandle.invokeExact(state, 0L, bytes, PROT_READ_WRITE,
                    MAP_SHARED_POPULATE, descriptor, offset);
        } catch (Throwable e) {
            throw new AssertionError("mmap(2)", e);
        }
    }

    /** Mapped memory as a segment, which must not be used after {@link #unmap}. */
    @SuppressWarnings("restricted")
    static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    void unmap(MemorySegment mapped) {
        try {
            int _ = (int) munmapHandle.invokeExact(mapped.address(), mapped.byteSize());
        } catch (Throwable e) {
            throw new AssertionError("munmap(2)", e);
        }
    }

    /** eventfd(2): a descriptor, or negative. */
    int eventfd(MemorySegment state) {
        try {
            return (int) eventfdHandle.invokeExact(state, 0, EFD_CLOEXEC);
        } catch (Throwable e) {
            throw new AssertionError("eventfd(2)", e);
        }
    }

    /** pipe2(2): 0 with the descriptors to read and to write, or negative. */
    int pipe(MemorySegment state, MemorySegment descriptors) {
        try {
            return (int) pipeHandle.invokeExact(state, descriptors.address(), O_CLOEXEC);
        } catch (Throwable e) {
            throw new AssertionError("pipe2(2)", e);
        }
    }

    /** read(2): the number of bytes, 0 at the end, or negative. */
    long read(MemorySegment state, int descriptor, MemorySegment into) {
        try {
            return (long) readHandle.invokeExact(state, descriptor, into.address(),
                    into.byteSize());
        } catch (Throwable e) {
            throw new AssertionError("read(2)", e);
        }
    }

    /** Adds a number of eight bytes to an eventfd, which fails only where it is none. */
    void signal(int eventfd, MemorySegment number) {
        try {
            long _ = (long) writeHandle.invokeExact(eventfd, number.address(), 8L);
        } catch (Throwable e) {
            throw new AssertionError("write(2)", e);
        }
    }

    void close(int descriptor) {
        try {
            int _ = (int) closeHandle.invokeExact(descriptor);
        } catch (Throwable e) {
            throw new AssertionError("close(2)", e);
        }
    }
}
