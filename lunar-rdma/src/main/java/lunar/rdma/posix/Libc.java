package lunar.rdma.posix;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** Functions of libc that the providers need. */
record Libc(MethodHandle pollHandle, MethodHandle eventfdHandle, MethodHandle readHandle,
        MethodHandle writeHandle, MethodHandle closeHandle, MethodHandle setenvHandle,
        MethodHandle sigactionHandle) {
    /** The functions; empty if they are missing, or native access is not enabled. */
    static final Optional<Libc> LOOKUP = lookup();

    private static final int EFD_CLOEXEC_NONBLOCK = 0x80000 | 0x800;

    @SuppressWarnings("restricted")
    private static Optional<Libc> lookup() {
        if (!NativeAccess.isEnabled()
                || ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup symbols = linker.defaultLookup();
        if (symbols.find("eventfd").isEmpty()) {
            return Optional.empty();
        }
        var number = ValueLayout.JAVA_INT;
        var word = ValueLayout.JAVA_LONG;
        return Optional.of(new Libc(
                linker.downcallHandle(symbols.findOrThrow("poll"),
                        FunctionDescriptor.of(number, word, word, number)),
                linker.downcallHandle(symbols.findOrThrow("eventfd"),
                        FunctionDescriptor.of(number, number, number)),
                linker.downcallHandle(symbols.findOrThrow("read"),
                        FunctionDescriptor.of(word, number, word, word)),
                linker.downcallHandle(symbols.findOrThrow("write"),
                        FunctionDescriptor.of(word, number, word, word)),
                linker.downcallHandle(symbols.findOrThrow("close"),
                        FunctionDescriptor.of(number, number)),
                linker.downcallHandle(symbols.findOrThrow("setenv"),
                        FunctionDescriptor.of(number, word, word, number)),
                linker.downcallHandle(symbols.findOrThrow("sigaction"),
                        FunctionDescriptor.of(number, number, word, word))));
    }

    /** poll(2): returns the number of descriptors that are ready, 0 after the timeout, or -1. */
    int poll(MemorySegment descriptors, int count, int timeoutMs) {
        try {
            return (int) pollHandle.invokeExact(descriptors.address(), (long) count, timeoutMs);
        } catch (Throwable e) {
            throw new AssertionError("poll(2)", e);
        }
    }

    /** eventfd(2), nonblocking: returns a descriptor, or -1. */
    int eventfd() {
        try {
            return (int) eventfdHandle.invokeExact(0, EFD_CLOEXEC_NONBLOCK);
        } catch (Throwable e) {
            throw new AssertionError("eventfd(2)", e);
        }
    }

    /** Adds a number, 8 bytes, to an eventfd. */
    void signal(int eventfd, MemorySegment number) {
        try {
            long _ = (long) writeHandle.invokeExact(eventfd, number.address(), 8L);
        } catch (Throwable e) {
            throw new AssertionError("write(2)", e);
        }
    }

    /** Resets an eventfd to 0, and reads the number that it had unless that was 0. */
    void reset(int eventfd, MemorySegment number) {
        try {
            long _ = (long) readHandle.invokeExact(eventfd, number.address(), 8L);
        } catch (Throwable e) {
            throw new AssertionError("read(2)", e);
        }
    }

    void close(int descriptor) {
        try {
            int _ = (int) closeHandle.invokeExact(descriptor);
        } catch (Throwable e) {
            throw new AssertionError("close(2)", e);
        }
    }

    /** setenv(3): sets a variable unless it is set already. */
    void setenv(MemorySegment name, MemorySegment value) {
        try {
            int _ = (int) setenvHandle.invokeExact(name.address(), value.address(), 0);
        } catch (Throwable e) {
            throw new AssertionError("setenv(3)", e);
        }
    }

    /** sigaction(2); either action may be {@link MemorySegment#NULL}. */
    void sigaction(int signal, MemorySegment action, MemorySegment previous) {
        try {
            int _ = (int) sigactionHandle.invokeExact(signal, action.address(),
                    previous.address());
        } catch (Throwable e) {
            throw new AssertionError("sigaction(2)", e);
        }
    }
}
