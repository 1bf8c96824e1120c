package lunar.rdma.posix;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Copies between memory of this process and memory of another process of the same user, without help of that process:
 * process_vm_readv(2) and process_vm_writev(2). A copy touches no memory but the ranges that it names. For one thread
 * at a time.
 */
public final class ProcessMemory {
    /** Error of a copy from or to memory that a process does not have. */
    public static final int EFAULT = 14;

    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final long ERRNO_AT = Linker.Option.captureStateLayout()
            .byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final long PIECE_BYTES = 16; // struct iovec: address, length
    private static final long STATE_BYTES = Linker.Option.captureStateLayout().byteSize();
    private static final Optional<MethodHandle> READ = function("process_vm_readv");
    private static final Optional<MethodHandle> WRITE = function("process_vm_writev");

    private final MemorySegment memory;
    private final MemorySegment state;

    /**
     * @param memory of {@link #bytes}, aligned to 8, which remains alive while this is used
     */
    public ProcessMemory(MemorySegment memory) {
        this.memory = memory;
        state = memory.asSlice(memory.byteSize() - STATE_BYTES, STATE_BYTES);
    }

    /** Length of the memory that a copier of so many local pieces needs. */
    public static long bytes(int pieces) {
        return (pieces + 1) * PIECE_BYTES + Math.ceilDiv(STATE_BYTES, 8) * 8;
    }

    @SuppressWarnings("restricted")
    private static Optional<MethodHandle> function(String name) {
        if (!NativeAccess.isEnabled()
                || ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup symbols = linker.defaultLookup();
        var word = ValueLayout.JAVA_LONG;
        return symbols.find(name).map(address -> linker.downcallHandle(address,
                FunctionDescriptor.of(word, ValueLayout.JAVA_INT, word, word, word, word, word),
                ERRNO));
    }

    /** Whether the system has these functions. */
    public static boolean isAvailable() {
        return READ.isPresent() && WRITE.isPresent();
    }

    /** Sets one of the local pieces; the remote range follows behind the last one. */
    public void piece(int index, long address, long length) {
        memory.set(ValueLayout.JAVA_LONG, index * PIECE_BYTES, address);
        memory.set(ValueLayout.JAVA_LONG, index * PIECE_BYTES + Long.BYTES, length);
    }

    /**
     * Copies memory of a process to the local pieces, which are as long together.
     *
     * @return 0, or the number of the error (errno)
     */
    public int read(int process, int pieces, long address, long length) {
        return copy(READ.orElseThrow(), process, pieces, address, length);
    }

    /**
     * Copies the local pieces to memory of a process.
     *
     * @return 0, or the number of the error (errno); part of the memory may have been written then
     */
    public int write(int process, int pieces, long address, long length) {
        return copy(WRITE.orElseThrow(), process, pieces, address, length);
    }

    private int copy(MethodHandle function, int process, int pieces, long address, long length) {
        piece(pieces, address, length);
        long local = memory.address();
        long copied;
        try {
            copied = (long) function.invokeExact(state, process, local, (long) pieces,
                    local + pieces * PIECE_BYTES, 1L, 0L);
        } catch (Throwable e) {
            throw new AssertionError("process_vm_readv(2)", e);
        }
        if (copied < 0) {
            return state.get(ValueLayout.JAVA_INT, ERRNO_AT);
        }
        return copied == length ? 0 : EFAULT; // a copy ends early at memory that is not there
    }
}
