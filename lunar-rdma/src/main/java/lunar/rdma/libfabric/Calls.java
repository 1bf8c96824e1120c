package lunar.rdma.libfabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls of functions in libfabric's tables, one method for each shape. Pointers to objects, buffers and structs are
 * addresses; a function is a segment of length zero at its address, as {@link Fid#function} gives it. Results are those
 * of libfabric: negative for an error, whose number is positive then.
 */
final class Calls {
    private static final Linker LINKER = Linker.nativeLinker();

    // None is linked as a critical function: a peer that is killed may leave a lock of shm held, and a thread that
    // waits for it must not stop the garbage collector.
    private static final MethodHandle INT_1 = plain(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle CONTROL = plain(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle INT_2 = plain(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle INT_3 = plain(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle INT_4 = plain(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle OPTION = plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle INSERT = plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle REGISTER = plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
            JAVA_LONG));
    private static final MethodHandle READ_EVENT = plain(FunctionDescriptor.of(JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle TRYWAIT = plain(
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

    private static final MethodHandle LONG_3 = plain(
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle TRANSFER = plain(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle RMA = plain(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    private Calls() {}

    @SuppressWarnings("restricted")
    private static MethodHandle plain(FunctionDescriptor shape) {
        return LINKER.downcallHandle(shape);
    }

    /** A function with no argument but its object, such as close or listen. */
    static int int1(MemorySegment function, long fid) {
        try {
            return (int) INT_1.invokeExact(function, fid);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_control(3). */
    static int control(MemorySegment function, long fid, int command, long argument) {
        try {
            return (int) CONTROL.invokeExact(function, fid, command, argument);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A function with one more argument, such as shutdown. */
    static int int2(MemorySegment function, long fid, long first) {
        try {
            return (int) INT_2.invokeExact(function, fid, first);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A function with two more arguments, such as bind, accept or getname. */
    static int int3(MemorySegment function, long fid, long first, long second) {
        try {
            return (int) INT_3.invokeExact(function, fid, first, second);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A function with three more arguments, such as connect, reject, and those that open objects. */
    static int int4(MemorySegment function, long fid, long first, long second, long third) {
        try {
            return (int) INT_4.invokeExact(function, fid, first, second, third);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_getopt(3). */
    static int option(MemorySegment function, long fid, int level, int name, long value,
            long length) {
        try {
            return (int) OPTION.invokeExact(function, fid, level, name, value, length);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_av_insert(3). */
    static int insert(MemorySegment function, long fid, long address, long count, long into,
            long flags, long context) {
        try {
            return (int) INSERT.invokeExact(function, fid, address, count, into, flags, context);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_mr_reg(3). */
    static int register(MemorySegment function, long fid, long buffer, long length, long access,
            long offset, long key, long flags, long into, long context) {
        try {
            return (int) REGISTER.invokeExact(function, fid, buffer, length, access, offset, key,
                    flags, into, context);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_eq_read(3). */
    static long readEvent(MemorySegment function, long fid, long event, long buffer, long length,
            long flags) {
        try {
            return (long) READ_EVENT.invokeExact(function, fid, event, buffer, length, flags);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_trywait(3). */
    static int trywait(MemorySegment function, long fid, long fids, int count) {
        try {
            return (int) TRYWAIT.invokeExact(function, fid, fids, count);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_cq_read(3), fi_cq_readerr(3), fi_eq_readerr(3), fi_sendmsg(3), fi_writemsg(3). */
    static long long3(MemorySegment function, long fid, long first, long second) {
        try {
            return (long) LONG_3.invokeExact(function, fid, first, second);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_send(3), fi_recv(3); also fi_sendv(3), fi_recvv(3) with arrays and their count. */
    static long transfer(MemorySegment function, long fid, long buffer, long length,
            long descriptor, long address, long context) {
        try {
            return (long) TRANSFER.invokeExact(function, fid, buffer, length, descriptor, address,
                    context);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** fi_read(3), fi_write(3); also fi_readv(3), fi_writev(3) with arrays and their count. */
    static long rma(MemorySegment function, long fid, long buffer, long length, long descriptor,
            long address, long remote, long key, long context) {
        try {
            return (long) RMA.invokeExact(function, fid, buffer, length, descriptor, address,
                    remote, key, context);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
