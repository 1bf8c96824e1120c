package lunar.osd.store.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import lunar.block.NoSpaceException;

/** Bytes that grow; those that were not written are zeros. Not thread-safe. */
final class MemoryData {
    private static final int MAX_LENGTH = Integer.MAX_VALUE - 8;

    private byte[] bytes = new byte[0];
    private int length;

    int length() { return length; }

    int read(long offset, MemorySegment into) {
        int count = (int) Math.max(0, Math.min(into.byteSize(), length - offset));
        if (count > 0) {
            MemorySegment.copy(bytes, (int) offset, into, ValueLayout.JAVA_BYTE, 0, count);
        }
        return count;
    }

    /** Makes room for data of a length; the only step of a change that fails. */
    void reserve(long wanted) throws NoSpaceException {
        if (wanted > MAX_LENGTH) {
            throw new NoSpaceException("an object in memory cannot have " + wanted + " bytes");
        }
        if (wanted > bytes.length) {
            int room = (int) Math.min(MAX_LENGTH, Math.max(wanted, bytes.length * 2L));
            bytes = Arrays.copyOf(bytes, room);
        }
    }

    void write(long offset, MemorySegment from) throws NoSpaceException {
        if (from.byteSize() > 0) {
            resizeAtLeast(offset + from.byteSize());
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, 0, bytes, (int) offset,
                    (int) from.byteSize());
        }
    }

    void zero(long offset, long count) throws NoSpaceException {
        if (count > 0) {
            resizeAtLeast(offset + count);
            Arrays.fill(bytes, (int) offset, (int) (offset + count), (byte) 0);
        }
    }

    private void resizeAtLeast(long wanted) throws NoSpaceException {
        reserve(wanted);
        length = (int) Math.max(length, wanted);
    }

    void resize(long wanted) throws NoSpaceException {
        reserve(wanted);
        if (wanted < length) {
            Arrays.fill(bytes, (int) wanted, length, (byte) 0);
        }
        length = (int) wanted;
    }

    void punch(long offset, long count) {
        if (offset < length) {
            int end = (int) (offset + Math.min(count, length - offset));
            System.arraycopy(bytes, end, bytes, (int) offset, length - end);
            int left = length - (end - (int) offset);
            Arrays.fill(bytes, left, length, (byte) 0);
            length = left;
        }
    }
}
