package lunar.rdma.libfabric;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.posix.NativeAccess;
import lunar.rdma.posix.SignalHandlers;
import org.jspecify.annotations.Nullable;

/** Functions that libfabric exports. Loaded once, when devices are first listed. */
final class Library {
    private static final String NAME = "libfabric.so.1";

    /** Loads the library when it is initialized. */
    private static final class Loaded {
        static final @Nullable Library LIBRARY;
        static final String MISSING;

        static {
            var found = new Library[1];
            var missing = new String[]{""};
            if (!NativeAccess.isEnabled()) {
                missing[0] = NativeAccess.MISSING;
            } else if (ADDRESS.byteSize() != Long.BYTES) {
                missing[0] = "not a 64-bit system";
            } else {
                SignalHandlers.keep(() -> {
                    try {
                        found[0] = new Library();
                    } catch (IllegalArgumentException | NoSuchElementException e) {
                        missing[0] = NAME
                                + " cannot be loaded (Debian: apt-get install libfabric1)";
                    }
                });
            }
            LIBRARY = found[0];
            MISSING = missing[0];
        }
    }

    private final MethodHandle getinfo;
    private final MethodHandle freeinfo;
    private final MethodHandle dupinfo;
    private final MethodHandle fabric;
    private final MethodHandle strerror;
    private final MethodHandle version;

    @SuppressWarnings("restricted")
    private Library() {
        SymbolLookup symbols = SymbolLookup.libraryLookup(NAME, Arena.global());
        Linker linker = Linker.nativeLinker();
        getinfo = linker.downcallHandle(symbols.findOrThrow("fi_getinfo"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG,
                        ADDRESS));
        freeinfo = linker.downcallHandle(symbols.findOrThrow("fi_freeinfo"),
                FunctionDescriptor.ofVoid(JAVA_LONG));
        dupinfo = linker.downcallHandle(symbols.findOrThrow("fi_dupinfo"),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        fabric = linker.downcallHandle(symbols.findOrThrow("fi_fabric"),
                FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG));
        strerror = linker.downcallHandle(symbols.findOrThrow("fi_strerror"),
                FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
        version = linker.downcallHandle(symbols.findOrThrow("fi_version"),
                FunctionDescriptor.of(JAVA_INT));
    }

    /** Returns the library; the message of the exception gives the reason, in one line. */
    static Library get() throws RdmaUnavailableException {
        Library library = Loaded.LIBRARY;
        if (library == null) {
            throw new RdmaUnavailableException(Loaded.MISSING);
        }
        return library;
    }

    /** Returns the library, for a caller that has objects of it. */
    static Library loaded() {
        Library library = Loaded.LIBRARY;
        if (library == null) {
            throw new IllegalStateException(Loaded.MISSING);
        }
        return library;
    }

    /**
     * fi_getinfo(3).
     *
     * @param into receives the address of the first info
     */
    int getinfo(MemorySegment node, MemorySegment service, long flags, long hints,
            MemorySegment into) {
        try {
            return (int) getinfo.invokeExact(Numbers.API_VERSION, node, service, flags, hints,
                    into);
        } catch (Throwable e) {
            throw new AssertionError("fi_getinfo", e);
        }
    }

    /** fi_freeinfo(3): frees a list of infos. */
    void freeinfo(long info) {
        try {
            freeinfo.invokeExact(info);
        } catch (Throwable e) {
            throw new AssertionError("fi_freeinfo", e);
        }
    }

    /** fi_dupinfo(3): copies an info with all its structs, or creates an empty one for 0; returns 0 without memory. */
    long dupinfo(long info) {
        try {
            return (long) dupinfo.invokeExact(info);
        } catch (Throwable e) {
            throw new AssertionError("fi_dupinfo", e);
        }
    }

    /** fi_fabric(3). */
    int fabric(long attributes, MemorySegment into) {
        try {
            return (int) fabric.invokeExact(attributes, into, 0L);
        } catch (Throwable e) {
            throw new AssertionError("fi_fabric", e);
        }
    }

    /** Version of the library; the upper 16 bits are the major version. */
    int version() {
        try {
            return (int) version.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("fi_version", e);
        }
    }

    /** Returns the text of an error. */
    String error(int code) {
        try {
            return Memory.string((long) strerror.invokeExact(code));
        } catch (Throwable e) {
            throw new AssertionError("fi_strerror", e);
        }
    }

    /**
     * Returns the exception for a failed call.
     *
     * @param result negated error number
     */
    static ProviderException failure(String call, long result) {
        int code = (int) -result;
        return new ProviderException(
                call + ": " + loaded().error(code) + " (error " + code + ")", code);
    }
}
