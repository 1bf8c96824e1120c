package lunar.iscsi.transfer;

import java.util.Arrays;

/** Received ranges of a burst whose data may arrive in any order: sorted and disjoint, bounded in number. */
final class Coverage {
    /** Most ranges followed at once. */
    static final int MAX_RANGES = 256;

    private int[] starts = new int[4];
    private int[] ends = new int[4];
    private int count;

    void clear() { count = 0; }

    /** Adds a range; {@link DataOutResult#MORE} if it is new, else why it cannot be added. */
    DataOutResult add(int start, int length) {
        if (length == 0) {
            return DataOutResult.MORE;
        }
        int end = start + length;
        int at = 0;
        while (at < count && starts[at] < start) {
            at++;
        }
        if ((at > 0 && ends[at - 1] > start) || (at < count && starts[at] < end)) {
            return DataOutResult.OVERLAP;
        }
        boolean joinsLeft = at > 0 && ends[at - 1] == start;
        boolean joinsRight = at < count && starts[at] == end;
        if (joinsLeft && joinsRight) {
            ends[at - 1] = ends[at];
            remove(at);
        } else if (joinsLeft) {
            ends[at - 1] = end;
        } else if (joinsRight) {
            starts[at] = start;
        } else if (count == MAX_RANGES) {
            return DataOutResult.TOO_SCATTERED;
        } else {
            insert(at, start, end);
        }
        return DataOutResult.MORE;
    }

    /** Whether the received bytes are exactly the first {@code bytes} bytes. */
    boolean isPrefix(int bytes) {
        return bytes == 0 ? count == 0 : count == 1 && starts[0] == 0 && ends[0] == bytes;
    }

    /** Bytes from the start on that have come without a gap. */
    int prefix() {
        return count > 0 && starts[0] == 0 ? ends[0] : 0;
    }

    private void insert(int at, int start, int end) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, count * 2);
            ends = Arrays.copyOf(ends, count * 2);
        }
        System.arraycopy(starts, at, starts, at + 1, count - at);
        System.arraycopy(ends, at, ends, at + 1, count - at);
        starts[at] = start;
        ends[at] = end;
        count++;
    }

    private void remove(int at) {
        count--;
        System.arraycopy(starts, at + 1, starts, at, count - at);
        System.arraycopy(ends, at + 1, ends, at, count - at);
    }
}
