package lunar.store;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Positional reads and writes on a descriptor through the page cache, without the per-call allocation of a FileChannel;
 * and reads of resident pages that never wait for the disk (preadv2(2) with RWF_NOWAIT). Failures have no cause: the
 * caller repeats the rest on the file's channel, which reports it.
 *
 * <p>Linux with 64 bits only; absent elsewhere and where native access is not enabled for the module. There are no
 * non-blocking writes, because ext4 does not support them.
 */
final class PageCache {
    private static final int RWF_NOWAIT = 8;
    private static final int IOVEC_BYTES = 16;
    private static final int LENGTH_OF_IOVEC = 8;

    /** The struct iovec of a thread. */
    private static final ThreadLocal<MemorySegment> IOVEC = ThreadLocal
            .withInitial(() -> Arena.ofAuto().allocate(IOVEC_BYTES, Long.BYTES));

    private static final boolean AVAILABLE = areThere();

    private final int descriptor;

    private PageCache(int descriptor) { this.descriptor = descriptor; }

    /** Returns the page cache of a file; the descriptor stays its owner's. */
    static Optional<PageCache> of(LinuxFile file) {
        return AVAILABLE ? Optional.of(new PageCache(file.descriptor())) : Optional.empty();
    }

    private static boolean areThere() {
        if (!LinuxFile.isAvailable()) {
            return false;
        }
        SymbolLookup symbols = Linker.nativeLinker().defaultLookup();
        return Stream.of("pread", "pwrite", "preadv2")
                .allMatch(name -> symbols.find(name).isPresent());
    }

    /** Fills native memory if that needs no disk. Returns whether it is filled; if not, it may be in part. */
    boolean readCached(long offsetBytes, MemorySegment into) {
        MemorySegment vector = IOVEC.get();
        vector.set(ValueLayout.JAVA_LONG, 0, into.address());
        vector.set(ValueLayout.JAVA_LONG, LENGTH_OF_IOVEC, into.byteSize());
        return Calls.preadv2(descriptor, vector, offsetBytes, into) == into.byteSize();
    }

    /** Fills native memory. Returns the bytes read before the end of the file or a failure. */
    long read(long offsetBytes, MemorySegment into) {
        long done = 0;
        long count;
        while (done < into.byteSize() && (count = Calls.pread(descriptor, rest(into, done),
                offsetBytes + done)) > 0) {
            done += count;
        }
        return done;
    }

    /** Writes native memory. Returns the bytes written before a failure. */
    long write(long offsetBytes, MemorySegment from) {
        long done = 0;
        long count;
        while (done < from.byteSize() && (count = Calls.pwrite(descriptor, rest(from, done),
                offsetBytes + done)) > 0) {
            done += count;
        }
        return done;
    }

    private static MemorySegment rest(MemorySegment all, long done) {
        return done == 0 ? all : all.asSlice(done);
    }

    /** The functions, as constants so that the calls are compiled into their callers. Only where they are had. */
    private static final class Calls {
        private static final MethodHandle PREAD = positioned("pread");
        private static final MethodHandle PWRITE = positioned("pwrite");

        /**
         * Declared with an extra argument, which preadv2 ignores: the linker then keeps the memory open during the
         * call, because otherwise it sees only the vector.
         */
        private static final MethodHandle PREADV2 = handle("preadv2",
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

        private Calls() {}

        private static MethodHandle positioned(String name) {
            return handle(name, FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        }

        @SuppressWarnings("restricted")
        private static MethodHandle handle(String name, FunctionDescriptor type) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
        }

        static long pread(int descriptor, MemorySegment into, long offset) {
            try {
                return (long) PREAD.invokeExact(descriptor, into, into.byteSize(), offset);
            } catch (Throwable e) {
                throw unexpected(e);
            }
        }

        static long pwrite(int descriptor, MemorySegment from, long offset) {
            try {
                return (long) PWRITE.invokeExact(descriptor, from, from.byteSize(), offset);
            } catch (Throwable e) {
                throw unexpected(e);
            }
        }

        static long preadv2(int descriptor, MemorySegment vector, long offset,
                MemorySegment into) {
            try {
                return (long) PREADV2.invokeExact(descriptor, vector, 1, offset, RWF_NOWAIT,
                        into);
            } catch (Throwable e) {
                throw unexpected(e);
            }
        }

        /** Memory that is closed, or of another thread, is the caller's failure. */
        private static RuntimeException unexpected(Throwable e) {
            if (e instanceof RuntimeException own) {
                return own;
            }
            throw new AssertionError(e);
        }
    }
}
