package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BinaryOperator;
import lunar.osd.wire.BufferPart;

/**
 * Data-in of a command: its data at the start, retrieved attributes at the offset that the CDB says, zeros between
 * them. The memory may be smaller than the data, if the initiator has declared less; what does not fit is dropped, and
 * counted. Belongs to the thread of the command.
 */
final class DataIn {
    private final MemorySegment room;
    private final BufferPart retrieved;
    private long dataLength;
    private long retrievedLength;

    /** @param room memory for as much as the initiator receives */
    DataIn(MemorySegment room, BufferPart retrieved) {
        this.room = room;
        this.retrieved = retrieved;
    }

    /** Returns the memory for a range of the data; shorter than the range where it is not all there. */
    MemorySegment data(long offset, long length) {
        long from = Math.min(offset, room.byteSize());
        return room.asSlice(from, Math.min(length, room.byteSize() - from));
    }

    /** Writes data at an offset. */
    void put(long offset, byte[] bytes) {
        MemorySegment target = data(offset, bytes.length);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, target, 0, target.byteSize());
        dataLength(Math.max(dataLength, offset + bytes.length));
    }

    /** Writes data at the start, truncated to an allocation length. */
    void put(byte[] bytes, long allocationLength) {
        int length = allocationLength < 0 // unsigned
                ? bytes.length
                : (int) Math.min(bytes.length, allocationLength);
        put(0, length == bytes.length ? bytes : Arrays.copyOf(bytes, length));
    }

    /** Sets the bytes of data. */
    void dataLength(long bytes) { dataLength = bytes; }

    /** Whether attributes are retrieved, into {@link #retrieved()}. */
    boolean retrieves() {
        return !retrieved.isEmpty();
    }

    /** Returns the memory for retrieved attributes. */
    MemorySegment retrieved() {
        return data(retrieved.offset(), retrieved.length());
    }

    /** Sets the bytes of retrieved attributes. */
    void retrievedLength(long bytes) {
        retrievedLength = bytes;
    }

    /**
     * Puts integrity information behind everything else, where there is room.
     *
     * @param information makes it of the data and of the retrieved attributes
     * @return the bytes of data-in
     */
    int finish(BufferPart at, BinaryOperator<MemorySegment> information) {
        int end = finish();
        MemorySegment bytes = information.apply(data(0, dataLength),
                data(retrieved.offset(), retrievedLength));
        data(end, at.offset() - end).fill((byte) 0);
        MemorySegment target = data(at.offset(), at.length());
        MemorySegment.copy(bytes, 0, target, 0, target.byteSize());
        return (int) at.end();
    }

    /** Zeroes the gap; returns the bytes of data-in. */
    int finish() {
        if (!retrieves() || retrievedLength == 0) {
            return (int) dataLength;
        }
        if (retrieved.offset() > dataLength) {
            data(dataLength, retrieved.offset() - dataLength).fill((byte) 0);
        }
        return (int) (retrieved.offset() + retrievedLength);
    }
}
