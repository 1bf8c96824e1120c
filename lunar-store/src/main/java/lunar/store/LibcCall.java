package lunar.store;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * A function of libc that has up to five integers or addresses as parameters and returns an integer. All of them are
 * linked with one signature, of longs: the JVM takes milliseconds to link each signature, at each start. The ABIs of
 * Linux with 64 bits pass an {@code int}, sign-extended, and an address as they pass a {@code long}, and a function
 * ignores arguments beyond its parameters; declaring all as variadic is what open(2) and fcntl(2) need, and makes no
 * difference to others.
 *
 * <p>Memory is passed by its address; the caller keeps it open during the call. A result of type {@code int} is in the
 * low half of what is returned.
 *
 * @param name of the function
 * @param handle of type (MemorySegment, long, long, long, long, long)long
 */
record LibcCall(String name, MethodHandle handle) {
    private static final FunctionDescriptor TYPE = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

    /** Returns the function of this name; empty if there is none, or native access is not enabled. */
    @SuppressWarnings("restricted")
    static Optional<LibcCall> find(String name) {
        boolean isLinux = System.getProperty("os.name").equals("Linux")
                && ValueLayout.ADDRESS.byteSize() == Long.BYTES;
        if (!isLinux || !NativeAccess.isEnabled()) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        return linker.defaultLookup().find(name)
                .map(address -> new LibcCall(name, linker.downcallHandle(address, TYPE,
                        Linker.Option.captureCallState("errno"),
                        Linker.Option.firstVariadicArg(1))));
    }

    /**
     * Calls the function.
     *
     * @param state of {@link Errno#STATE}, which receives errno
     */
    long call(MemorySegment state, long first, long second, long third, long fourth, long fifth) {
        try {
            return (long) handle.invokeExact(state, first, second, third, fourth, fifth);
        } catch (Throwable e) {
            throw new AssertionError(name, e);
        }
    }

    /** Calls a function of up to three parameters. */
    long call(MemorySegment state, long first, long second, long third) {
        return call(state, first, second, third, 0, 0);
    }
}
