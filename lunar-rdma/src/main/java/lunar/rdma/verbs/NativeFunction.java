package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import lunar.rdma.ProviderException;

/**
 * A C function off the data path, of up to five integers or addresses. Its result is checked in one of the ways in
 * which the libraries report errors. Any thread may call it.
 *
 * <p>All functions are called with five 64-bit integers, by one handle: the calling conventions of 64-bit Linux pass
 * them in registers, of which a function reads those of its arguments, and the lower half for an {@code int}. A handle
 * for each signature would take 5 ms at the start.
 */
final class NativeFunction {
    private static final int MAX_ARGUMENTS = 5;
    private static final MethodHandle CALL = link();
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE
            .varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private final String name;
    private final MemorySegment address;

    NativeFunction(String name, MemorySegment address) {
        this.name = name;
        this.address = address;
    }

    /** Calls a function and ignores its result, if it has one. */
    void run(long... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            long _ = invoke(arena.allocate(STATE), arguments);
        }
    }

    /** Calls a function that returns 0 or an error number. */
    void check(long... arguments) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            int result = (int) invoke(arena.allocate(STATE), arguments);
            if (result != 0) {
                throw Errno.failure(name, Math.abs(result));
            }
        }
    }

    /** Calls a function that returns an int that is not negative, or -1 and errno. */
    int value(long... arguments) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            int result = (int) invoke(state, arguments);
            if (result < 0) {
                throw Errno.failure(name, (int) ERRNO.get(state, 0L));
            }
            return result;
        }
    }

    /** Calls a function that returns an address, or NULL and errno. */
    long pointer(long... arguments) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = invoke(state, arguments);
            if (result == 0) {
                throw Errno.failure(name, (int) ERRNO.get(state, 0L));
            }
            return result;
        }
    }

    /**
     * Calls a function on a nonblocking descriptor.
     *
     * @return true if the call succeeds; false for EAGAIN or EINTR
     */
    boolean ready(long... arguments) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            if ((int) invoke(state, arguments) >= 0) {
                return true;
            }
            int errno = (int) ERRNO.get(state, 0L);
            if (errno == Constants.EAGAIN || errno == Constants.EINTR) {
                return false;
            }
            throw Errno.failure(name, errno);
        }
    }

    private long invoke(MemorySegment state, long... arguments) {
        long[] all = Arrays.copyOf(arguments, MAX_ARGUMENTS);
        try {
            return (long) CALL.invokeExact(address, state, all[0], all[1], all[2], all[3], all[4]);
        } catch (Throwable e) {
            throw new AssertionError(name, e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link() {
        MemoryLayout[] arguments = new MemoryLayout[MAX_ARGUMENTS];
        Arrays.fill(arguments, JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_LONG, arguments),
                Linker.Option.captureCallState("errno"));
    }
}
