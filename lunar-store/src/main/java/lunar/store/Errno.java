package lunar.store;

import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Error numbers of Linux, identical on all supported processors. */
final class Errno {
    static final int EPERM = 1;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int ENXIO = 6;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    static final int EBUSY = 16;
    static final int EINVAL = 22;
    static final int EFBIG = 27;
    static final int ENOSPC = 28;
    static final int ENOSYS = 38;
    static final int EOPNOTSUPP = 95;
    static final int EDQUOT = 122;
    static final int ECANCELED = 125;

    /** Where a call that was linked with {@code captureCallState("errno")} leaves it. */
    static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final long AT = STATE
            .byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private Errno() {}

    /** The error number of the call that was last given this state, if it has failed. */
    static int in(MemorySegment state) {
        return state.get(ValueLayout.JAVA_INT, AT);
    }

    /** In the words of strerror(3), by which {@link IoFailure} knows them. */
    static String text(int errno) {
        return switch (errno) {
            case ENOSPC -> "No space left on device";
            case EDQUOT -> "Disk quota exceeded";
            case EPERM, EACCES -> "permission denied";
            case EIO -> "Input/output error";
            default -> "error " + errno;
        };
    }

    /**
     * Whether a write with RWF_DSYNC that ended with this error may have failed while syncing. If it was rejected
     * earlier, or there was no space, other writes are not affected; an unknown error counts as a sync failure.
     *
     * @param errno 0 or less for a short write
     */
    static boolean mayHaveLostWrites(int errno) {
        return switch (errno) {
            case EINTR, EAGAIN, ENOMEM, EFAULT, EINVAL, EFBIG, ENOSPC, ENOSYS, EOPNOTSUPP, EDQUOT,
                    ECANCELED ->
                false;
            default -> errno > 0;
        };
    }
}
