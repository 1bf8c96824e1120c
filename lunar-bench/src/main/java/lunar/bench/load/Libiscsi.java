package lunar.bench.load;

import lunar.bench.harness.BenchException;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * The C library libiscsi by java.lang.foreign: the functions of its iscsi.h and scsi-lowlevel.h for reading and
 * writing, and poll(2). A context is not thread-safe.
 */
@SuppressWarnings("restricted") // that is what it is for
public final class Libiscsi {
    private static final String LIBRARY = "libiscsi.so.7";
    private static final int SESSION_NORMAL = 2;
    private static final int DIGEST_NONE = 0;
    private static final int STATUS_GOOD = 0;
    private static final long MAX_TEXT_BYTES = 4096;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;
    /** struct scsi_iovec: address, length. */
    public static final MemoryLayout VECTOR = MemoryLayout.structLayout(POINTER, LONG);
    /** struct pollfd: descriptor, events asked for, events that came. */
    private static final MemoryLayout POLL = MemoryLayout.structLayout(INT, ValueLayout.JAVA_SHORT,
            ValueLayout.JAVA_SHORT);
    private static final long POLL_EVENTS = 4;
    private static final long POLL_RETURNED = 6;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup SYMBOLS = SymbolLookup.libraryLookup(LIBRARY, Arena.global())
            .or(LINKER.defaultLookup());

    private static final MethodHandle CREATE_CONTEXT = handle("iscsi_create_context", POINTER,
            POINTER);
    private static final MethodHandle DESTROY_CONTEXT = handle("iscsi_destroy_context", INT,
            POINTER);
    private static final MethodHandle SET_TARGET_NAME = handle("iscsi_set_targetname", INT, POINTER,
            POINTER);
    private static final MethodHandle SET_SESSION_TYPE = handle("iscsi_set_session_type", INT,
            POINTER, INT);
    private static final MethodHandle SET_HEADER_DIGEST = handle("iscsi_set_header_digest", INT,
            POINTER, INT);
    private static final MethodHandle SET_NO_RECONNECT = handle("iscsi_set_noautoreconnect", null,
            POINTER, INT);
    private static final MethodHandle FULL_CONNECT = handle("iscsi_full_connect_sync", INT, POINTER,
            POINTER, INT);
    private static final MethodHandle LOGOUT = handle("iscsi_logout_sync", INT, POINTER);
    private static final MethodHandle GET_ERROR = handle("iscsi_get_error", POINTER, POINTER);
    private static final MethodHandle GET_FD = handle("iscsi_get_fd", INT, POINTER);
    private static final MethodHandle WHICH_EVENTS = handle("iscsi_which_events", INT, POINTER);
    private static final MethodHandle SERVICE = handle("iscsi_service", INT, POINTER, INT);
    private static final MethodHandle POLL_CALL = handle("poll", INT, POINTER, LONG, INT);
    /** Context, LUN, LBA, bytes, block size, RDPROTECT, DPO, FUA, FUA_NV, group, vectors, how many. */
    private static final MethodHandle READ = handle("iscsi_read16_iov_sync", POINTER, POINTER, INT,
            LONG, INT, INT, INT, INT, INT, INT, INT, POINTER, INT);
    /** Context, LUN, LBA, data, bytes, block size, WRPROTECT, DPO, FUA, FUA_NV, group. */
    private static final MethodHandle WRITE = handle("iscsi_write16_sync", POINTER, POINTER, INT,
            LONG, POINTER, INT, INT, INT, INT, INT, INT, INT);
    /** As {@link #READ}, with a callback and what is passed to it before the vectors. */
    private static final MethodHandle BEGIN_READ = handle("iscsi_read16_iov_task", POINTER, POINTER,
            INT, LONG, INT, INT, INT, INT, INT, INT, INT, POINTER, POINTER, POINTER, INT);
    /** As {@link #WRITE}, with a callback and what is passed to it. */
    private static final MethodHandle BEGIN_WRITE = handle("iscsi_write16_task", POINTER, POINTER,
            INT, LONG, POINTER, INT, INT, INT, INT, INT, INT, INT, POINTER, POINTER);
    private static final MethodHandle FREE_TASK = handle("scsi_free_scsi_task", null, POINTER);

    private Libiscsi() {}

    /** Receives the end of a command, on the thread that runs {@link #await}. */
    @FunctionalInterface
    public interface Callback {
        /** @param token as given at its begin */
        void ended(boolean good, long token);
    }

    /** Whether it is installed. Before this is known, nothing else here may be used. */
    public static boolean isInstalled() {
        try (Arena arena = Arena.ofConfined()) {
            return SymbolLookup.libraryLookup(LIBRARY, arena).find("iscsi_create_context")
                    .isPresent();
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /** @param result null for none */
    private static MethodHandle handle(String name, @Nullable MemoryLayout result,
            MemoryLayout... given) {
        return LINKER.downcallHandle(SYMBOLS.findOrThrow(name), result == null
                ? FunctionDescriptor.ofVoid(given)
                : FunctionDescriptor.of(result, given));
    }

    private static IllegalStateException broken(Throwable why) {
        return new IllegalStateException("a call of " + LIBRARY, why);
    }

    /** Logs in, and waits until the LUN has told its unit attentions. */
    public static MemorySegment connect(String portal, String target, String initiator, int lun)
            throws BenchException {
        try (Arena arena = Arena.ofConfined()) {
            var context = (MemorySegment) CREATE_CONTEXT
                    .invokeExact(arena.allocateFrom(initiator));
            check(context, (int) SET_TARGET_NAME.invokeExact(context, arena.allocateFrom(target)));
            check(context, (int) SET_SESSION_TYPE.invokeExact(context, SESSION_NORMAL));
            check(context, (int) SET_HEADER_DIGEST.invokeExact(context, DIGEST_NONE));
            SET_NO_RECONNECT.invokeExact(context, 1); // without a listener it would spin
            check(context,
                    (int) FULL_CONNECT.invokeExact(context, arena.allocateFrom(portal), lun));
            return context;
        } catch (BenchException e) {
            throw e;
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    public static void disconnect(MemorySegment context) {
        try {
            int _ = (int) LOGOUT.invokeExact(context);
            int _ = (int) DESTROY_CONTEXT.invokeExact(context);
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    /** @param vector that describes where the data go */
    public static void read(MemorySegment context, int lun, long lba, int bytes, int blockBytes,
            MemorySegment vector) throws BenchException {
        MemorySegment task;
        try {
            task = (MemorySegment) READ.invokeExact(context, lun, lba, bytes, blockBytes, 0, 0, 0,
                    0, 0, vector, 1);
        } catch (Throwable e) {
            throw broken(e);
        }
        finish(context, task);
    }

    public static void write(MemorySegment context, int lun, long lba, MemorySegment data,
            int blockBytes) throws BenchException {
        MemorySegment task;
        try {
            task = (MemorySegment) WRITE.invokeExact(context, lun, lba, data,
                    (int) data.byteSize(), blockBytes, 0, 0, 0, 0, 0);
        } catch (Throwable e) {
            throw broken(e);
        }
        finish(context, task);
    }

    private static void finish(MemorySegment context, MemorySegment task) throws BenchException {
        if (task.address() == 0) {
            throw error(context);
        }
        int status = task.reinterpret(INT.byteSize()).get(INT, 0); // the first field of struct scsi_task
        try {
            FREE_TASK.invokeExact(task);
        } catch (Throwable e) {
            throw broken(e);
        }
        check(context, status);
    }

    /** Creates a callback that C can call; it lives as long as the arena. */
    public static MemorySegment callback(Callback callback, Arena arena) {
        try {
            MethodHandle method = MethodHandles.lookup().findStatic(Libiscsi.class, "ended",
                    MethodType.methodType(void.class, Callback.class, MemorySegment.class,
                            int.class, MemorySegment.class, MemorySegment.class));
            return LINKER.upcallStub(method.bindTo(callback),
                    FunctionDescriptor.ofVoid(POINTER, INT, POINTER, POINTER), arena);
        } catch (ReflectiveOperationException e) {
            throw broken(e);
        }
    }

    @SuppressWarnings("unused") // called by C
    private static void ended(Callback callback, MemorySegment context, int status,
            MemorySegment task, MemorySegment own) {
        try {
            FREE_TASK.invokeExact(task);
        } catch (Throwable e) {
            throw broken(e);
        }
        callback.ended(status == STATUS_GOOD, own.address());
    }

    public static void beginRead(MemorySegment context, int lun, long lba, int bytes,
            int blockBytes, MemorySegment vector, MemorySegment callback, long token)
            throws BenchException {
        try {
            var task = (MemorySegment) BEGIN_READ.invokeExact(context, lun, lba, bytes, blockBytes,
                    0, 0, 0, 0, 0, callback, MemorySegment.ofAddress(token), vector, 1);
            check(context, task.address() == 0 ? -1 : 0);
        } catch (BenchException e) {
            throw e;
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    public static void beginWrite(MemorySegment context, int lun, long lba, MemorySegment data,
            int blockBytes, MemorySegment callback, long token) throws BenchException {
        try {
            var task = (MemorySegment) BEGIN_WRITE.invokeExact(context, lun, lba, data,
                    (int) data.byteSize(), blockBytes, 0, 0, 0, 0, 0, callback,
                    MemorySegment.ofAddress(token));
            check(context, task.address() == 0 ? -1 : 0);
        } catch (BenchException e) {
            throw e;
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    /** Room for {@link #await}. */
    public static MemorySegment descriptor(Arena arena) {
        return arena.allocate(POLL);
    }

    /** Waits until the context has something to send or to receive, and lets it. */
    public static void await(MemorySegment context, MemorySegment descriptor)
            throws BenchException {
        try {
            descriptor.set(INT, 0, (int) GET_FD.invokeExact(context));
            descriptor.set(ValueLayout.JAVA_SHORT, POLL_EVENTS,
                    (short) (int) WHICH_EVENTS.invokeExact(context));
            int _ = (int) POLL_CALL.invokeExact(descriptor, 1L, -1);
            check(context, (int) SERVICE.invokeExact(context,
                    (int) descriptor.get(ValueLayout.JAVA_SHORT, POLL_RETURNED)));
        } catch (BenchException e) {
            throw e;
        } catch (Throwable e) {
            throw broken(e);
        }
    }

    private static void check(MemorySegment context, int status) throws BenchException {
        if (status != STATUS_GOOD) {
            throw error(context);
        }
    }

    private static BenchException error(MemorySegment context) {
        try {
            var text = (MemorySegment) GET_ERROR.invokeExact(context);
            return new BenchException("libiscsi: " + text.reinterpret(MAX_TEXT_BYTES).getString(0));
        } catch (Throwable e) {
            throw broken(e);
        }
    }
}
