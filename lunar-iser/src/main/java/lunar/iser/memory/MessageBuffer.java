package lunar.iser.memory;

import java.lang.foreign.MemorySegment;
import lunar.rdma.MemoryRegion;

/** Registered buffer for one message. Owned by the connection that took it from {@link MessageBuffers}. */
public final class MessageBuffer {
    private final MessageBuffers home;
    private final MemoryRegion region;
    private final long offset;
    private final MemorySegment bytes;

    MessageBuffer(MessageBuffers home, MemoryRegion region, long offset, long length) {
        this.home = home;
        this.region = region;
        this.offset = offset;
        bytes = region.segment().asSlice(offset, length);
    }

    /** Returns the registered block that contains the buffer. */
    public MemoryRegion region() {
        return region;
    }

    /** Offset of the buffer in {@link #region}, in bytes. */
    public long offset() { return offset; }

    public MemorySegment bytes() { return bytes; }

    /** Gives the buffer back; no posted operation may use it. */
    public void giveBack() {
        home.give(this);
    }
}
