package lunar.iscsi.framing;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Cache of {@link ByteBuffer} views of the native segments that one direction of a connection has used recently. Data
 * is mostly sent from and received into the same memory, and channels need a {@code ByteBuffer} each time. Keeps no
 * memory alive. Not thread-safe.
 */
public final class BufferViews {
    private static final int SLOTS = 256;
    /** Slots where a view can be, one behind the other. */
    private static final int WAYS = 4;

    /** A segment and the buffer over it. */
    private record View(MemorySegment segment, ByteBuffer buffer) {
        /** Whether this view is of the given memory, and not of earlier memory at the same address. */
        boolean isOf(MemorySegment other) {
            return segment.scope().equals(other.scope())
                    && segment.isReadOnly() == other.isReadOnly();
        }
    }

    private static final class Slot extends WeakReference<View> {
        private final long address;
        private final long length;

        Slot(View view) {
            super(view);
            address = view.segment.address();
            length = view.segment.byteSize();
        }
    }

    private @Nullable Slot @Nullable [] slots;
    private int turn;

    /** Views of nothing yet. */
    public BufferViews() {}

    /**
     * Returns the buffer over a native segment, always the same one for the same memory: the caller sets position and
     * limit before each use.
     */
    public ByteBuffer of(MemorySegment segment) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("not native memory");
        }
        @Nullable
        Slot[] table = slots;
        if (table == null) {
            table = new Slot[SLOTS];
            slots = table;
        }
        long address = segment.address();
        long length = segment.byteSize();
        int first = hash(address, length);
        int free = -1;
        for (int i = 0; i < WAYS; i++) {
            int at = (first + i) & (SLOTS - 1);
            Slot slot = table[at];
            if (slot == null || slot.refersTo(null)) {
                free = at;
            } else if (slot.address == address && slot.length == length) {
                View view = slot.get();
                if (view != null && view.isOf(segment)) {
                    return view.buffer;
                }
                free = at;
            }
        }
        if (free < 0) {
            free = (first + (turn++ & (WAYS - 1))) & (SLOTS - 1);
        }
        var view = new View(segment, DirectMemory.view(segment));
        table[free] = new Slot(view);
        return view.buffer;
    }

    private static int hash(long address, long length) {
        long mixed = (address + 31 * length) * 0x9e37_79b9_7f4a_7c15L;
        return (int) (mixed >>> 56) & (SLOTS - 1);
    }
}
