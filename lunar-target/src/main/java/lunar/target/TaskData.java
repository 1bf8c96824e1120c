package lunar.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import lunar.block.BlockDevice;
import lunar.iscsi.spi.Transport;
import lunar.target.device.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * The memory that one task has for its data: one buffer, and one more where data go both ways; or none, where the
 * device sends its data-in. On the loop, but for that sending.
 */
final class TaskData implements Transport.Source {
    private final Task task;
    private Buffers.@Nullable Buffer buffer;
    /** Of a bidirectional command, whose data-out have {@link #buffer}. */
    private Buffers.@Nullable Buffer dataInBuffer;

    /** What sends the data-in itself, from this place on. */
    private volatile @Nullable BlockDevice source;
    private volatile long sourceOffset;

    TaskData(Task task) { this.task = task; }

    /** Whether there is memory for so many bytes; what was in it before is gone. */
    boolean ensure(int bytes) {
        Buffers.Buffer lent = buffer;
        if (lent != null && lent.memory().byteSize() >= bytes) {
            return true;
        }
        giveBack();
        buffer = task.borrow(bytes);
        return buffer != null;
    }

    /** The first bytes of data-out; NULL without memory for them. */
    MemorySegment dataOut(int bytes) {
        return buffer == null ? MemorySegment.NULL : buffer.slice(0, bytes);
    }

    /** Where data-out of a place in the transfer go; NULL without memory for them. */
    MemorySegment destination(int offset, int length) {
        return buffer == null ? MemorySegment.NULL : buffer.slice(offset, length);
    }

    /** Room for data-in; null where there is none. */
    @Nullable
    MemorySegment roomForDataIn(int bytes) {
        if (!task.isBidirectional()) {
            return ensure(bytes) ? Objects.requireNonNull(buffer).slice(0, bytes) : null;
        }
        if (dataInBuffer != null) {
            task.giveBack(dataInBuffer);
        }
        dataInBuffer = task.borrow(bytes);
        return dataInBuffer == null ? null : dataInBuffer.slice(0, bytes);
    }

    /** A part of data-in. */
    MemorySegment dataIn(int offset, int length) {
        Buffers.Buffer from = dataInBuffer == null ? buffer : dataInBuffer;
        return Objects.requireNonNull(from).slice(offset, length);
    }

    /** Has the data-in sent by a device, from this place on. */
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

    /** Gives all back, but for what the transport is filling this moment. */
    void giveBack() {
        source = null;
        Buffers.Buffer lent = buffer;
        if (lent != null && !task.connection().isFilling(task)) {
            buffer = null;
            task.giveBack(lent);
        }
        Buffers.Buffer lentIn = dataInBuffer;
        if (lentIn != null) {
            dataInBuffer = null;
            task.giveBack(lentIn);
        }
    }

    /** Whether nothing is lent. */
    boolean isEmpty() {
        return buffer == null && dataInBuffer == null && source == null;
    }
}
