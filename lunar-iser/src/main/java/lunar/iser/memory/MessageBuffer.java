package lunar.iser.memory;

import java.lang.foreign.MemorySegment;
import lunar.rdma.MemoryRegion;

/** Registered memory for one message. Belongs to the connection that took it from {@link MessageBuffers}. */
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

    /** The registered block that the buffer is a part of. */
    public MemoryRegion region() {
        return region;
    }

    /** Where in {@link #region} it begins. */
    public long offset() { return offset; }

    public MemorySegment bytes() { return bytes; }

    /** Gives it back; the device must be done with it. */
    public void giveBack() {
        home.give(this);
    }
}
