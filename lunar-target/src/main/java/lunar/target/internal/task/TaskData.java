package lunar.target.internal.task;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import lunar.block.BlockDevice;
import lunar.iscsi.spi.Transport;
import lunar.scsi.target.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * Data buffers of a task: one, a second one for a bidirectional command, or none if the device sends the data-in
 * directly. Confined to the event loop's thread, except for direct sending.
 */
final class TaskData implements Transport.Source {
    private final CommandMemory memory;
    private @Nullable UnitUsage unit;
    private boolean bidirectional;
    private Buffers.@Nullable Buffer buffer;
    /** The buffer for data-in of a bidirectional command; its data-out uses {@link #buffer}. */
    private Buffers.@Nullable Buffer dataInBuffer;

    /** Number of parts of {@link #buffer} that the transport is filling; the buffer must not be reused meanwhile. */
    private int filling;

    /** Device that sends the data-in directly, starting at {@link #sourceOffset}; null if the data is in a buffer. */
    private volatile @Nullable BlockDevice source;
    private volatile long sourceOffset;

    TaskData(CommandMemory memory) { this.memory = memory; }

    /** Starts over for another command, with nothing lent. */
    void clear(boolean isBidirectional) {
        bidirectional = isBidirectional;
        unit = null;
    }

    /** Sets the unit that memory is lent for; a command without one gets no memory. */
    void lendFor(UnitUsage usage) {
        unit = usage;
    }

    /** Borrows memory besides that for the data; null if none is available. */
    Buffers.@Nullable Buffer borrow(int bytes) {
        return memory.take(unit, bytes);
    }

    /** Gives back borrowed memory. */
    void giveBack(Buffers.Buffer borrowed) {
        memory.give(Objects.requireNonNull(unit), borrowed);
    }

    /** Ensures memory for this many bytes; its content is undefined. Returns false if none is available. */
    boolean ensure(int bytes) {
        Buffers.Buffer lent = buffer;
        if (lent != null && lent.memory().byteSize() >= bytes) {
            return true;
        }
        giveBack();
        buffer = borrow(bytes);
        return buffer != null;
    }

    /** Returns the first bytes of data-out; NULL without memory for them. */
    MemorySegment dataOut(int bytes) {
        return buffer == null ? MemorySegment.NULL : buffer.slice(0, bytes);
    }

    /** Returns the memory for data-out of an offset in the transfer; NULL without memory for them. */
    MemorySegment destination(int offset, int length) {
        return buffer == null ? MemorySegment.NULL : buffer.slice(offset, length);
    }

    /** Returns memory for data-in; null if none is available. */
    @Nullable
    MemorySegment roomForDataIn(int bytes) {
        if (!bidirectional) {
            return ensure(bytes) ? Objects.requireNonNull(buffer).slice(0, bytes) : null;
        }
        if (dataInBuffer != null) {
            giveBack(dataInBuffer);
        }
        dataInBuffer = borrow(bytes);
        return dataInBuffer == null ? null : dataInBuffer.slice(0, bytes);
    }

    /** Returns a part of data-in. */
    MemorySegment dataIn(int offset, int length) {
        Buffers.Buffer from = dataInBuffer == null ? buffer : dataInBuffer;
        return Objects.requireNonNull(from).slice(offset, length);
    }

    /** Makes a device send the data-in, starting at this offset. */
    void transferFrom(BlockDevice device, long offsetBytes) {
        source = device;
        sourceOffset = offsetBytes;
    }

    /** Whether a device sends the data-in. */
    boolean isTransferred() { return source != null; }

    @Override
    public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        return Objects.requireNonNull(source).transferTo(sourceOffset + offsetBytes, countBytes,
                channel);
    }

    /** Records that the transport begins to fill a part of the buffer; {@link #giveBack()} keeps it meanwhile. */
    void beginFilling() {
        filling++;
    }

    /** Records that the transport no longer fills a part of the buffer. */
    void endFilling() {
        filling--;
    }

    boolean isFilling() { return filling > 0; }

    /** Gives all memory back, except a buffer that the transport is filling. */
    void giveBack() {
        source = null;
        Buffers.Buffer lent = buffer;
        if (lent != null && filling == 0) {
            buffer = null;
            giveBack(lent);
        }
        Buffers.Buffer lentIn = dataInBuffer;
        if (lentIn != null) {
            dataInBuffer = null;
            giveBack(lentIn);
        }
    }

    /** Returns what the buffers occupy, which is more than was asked for. */
    long occupiedBytes() {
        return (buffer == null ? 0 : buffer.memory().byteSize())
                + (dataInBuffer == null ? 0 : dataInBuffer.memory().byteSize());
    }

    /** Whether nothing is lent. */
    boolean isEmpty() {
        return buffer == null && dataInBuffer == null && source == null;
    }
}
