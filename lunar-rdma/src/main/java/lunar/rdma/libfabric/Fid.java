package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import lunar.rdma.ProviderException;

/** Functions that all libfabric objects have, such as bind, control and close, and access to their function tables. */
final class Fid {
    private static final long OPS = offset(Layouts.FID, "ops");
    private static final long CLOSE = offset(Layouts.OPS, "close");
    private static final long BIND = offset(Layouts.OPS, "bind");
    private static final long CONTROL = offset(Layouts.OPS, "control");

    private Fid() {}

    /**
     * Returns a function of an object.
     *
     * @param object layout of the object's struct
     * @param table name of the member that points to the function table
     * @param ops layout of the function table
     * @param name name of the function in the table
     */
    static MemorySegment function(long fid, StructLayout object, String table, StructLayout ops,
            String name) {
        return function(Memory.word(fid + offset(object, table)), offset(ops, name));
    }

    private static MemorySegment function(long table, long offset) {
        return MemorySegment.ofAddress(Memory.word(table + offset));
    }

    private static MemorySegment common(long fid, long offset) {
        return function(Memory.word(fid + OPS), offset);
    }

    /** fi_close(3). */
    static int close(long fid) { return Calls.int1(common(fid, CLOSE), fid); }

    /** Closes an object that no other object refers to. */
    static void closeFreely(long fid, String what) {
        int result = close(fid);
        if (result != 0) {
            throw new IllegalStateException(Library.failure("fi_close of " + what, result));
        }
    }

    /** fi_ep_bind(3) and similar functions: binds an object to another. */
    static void bind(long fid, long other, long flags, String what) throws ProviderException {
        check("fi_ep_bind to " + what, Calls.int3(common(fid, BIND), fid, other, flags));
    }

    /** fi_enable(3). */
    static void enable(long fid) throws ProviderException {
        check("fi_enable", Calls.control(common(fid, CONTROL), fid, Numbers.FI_ENABLE, 0));
    }

    /** fi_control(3) with a pointer. */
    static int control(long fid, int command, MemorySegment argument) {
        return Calls.control(common(fid, CONTROL), fid, command, argument.address());
    }

    /** Returns the file descriptor of an object with a wait object. */
    static int descriptor(long fid) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
            check("fi_control(FI_GETWAIT)", control(fid, Numbers.FI_GETWAIT, number));
            return number.get(ValueLayout.JAVA_INT, 0);
        }
    }

    static void check(String call, long result) throws ProviderException {
        if (result != 0) {
            throw Library.failure(call, result);
        }
    }
}
