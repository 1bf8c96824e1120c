package lunar.iser.connection;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hash map from task tags to values, with open addressing and linear probing, so that adding and removing tasks creates
 * no garbage. Not thread-safe.
 *
 * @param <V> type of the values
 */
final class TagMap<V> {
    private static final int FIRST_SLOTS = 64;
    private static final int HASH = 0x9e37_79b9;

    private int[] tags = new int[FIRST_SLOTS];
    private @Nullable Object[] values = new Object[FIRST_SLOTS];
    private int size;

    int size() { return size; }

    private int home(int tag) {
        return (tag * HASH) >>> (Integer.numberOfLeadingZeros(tags.length) + 1);
    }

    private int next(int slot) { return (slot + 1) & (tags.length - 1); }

    /** Returns the slot of a tag, or the free slot where it would be inserted. */
    private int slot(int tag) {
        int slot = home(tag);
        while (values[slot] != null && tags[slot] != tag) {
            slot = next(slot);
        }
        return slot;
    }

    /** Returns the value of a tag; null if there is none. */
    @Nullable
    V get(int tag) { return value(slot(tag)); }

    @SuppressWarnings("unchecked") // only put adds to the array
    private @Nullable V value(int slot) { return (V) values[slot]; }

    /** Sets the value of a tag; returns the previous value, or null. */
    @Nullable
    V put(int tag, V value) {
        if (2 * size >= tags.length) {
            grow();
        }
        int slot = slot(tag);
        V before = value(slot);
        tags[slot] = tag;
        values[slot] = value;
        size += before == null ? 1 : 0;
        return before;
    }

    private void grow() {
        int[] oldTags = tags;
        @Nullable
        Object[] oldValues = values;
        tags = new int[2 * oldTags.length];
        values = new Object[tags.length];
        for (int i = 0; i < oldTags.length; i++) {
            if (oldValues[i] != null) {
                int slot = slot(oldTags[i]);
                tags[slot] = oldTags[i];
                values[slot] = oldValues[i];
            }
        }
    }

    /** Removes a tag; returns its value, or null. */
    @Nullable
    V remove(int tag) {
        int hole = slot(tag);
        V removed = value(hole);
        if (removed == null) {
            return null;
        }
        size--;
        values[hole] = null;
        for (int slot = next(hole); values[slot] != null; slot = next(slot)) {
            int home = home(tags[slot]);
            if (((slot - home) & (tags.length - 1)) >= ((slot - hole) & (tags.length - 1))) {
                tags[hole] = tags[slot]; // its probe sequence passes the hole
                values[hole] = values[slot];
                values[slot] = null;
                hole = slot;
            }
        }
        return removed;
    }

    /** Removes all tags; returns their values. */
    List<V> clear() {
        var all = new ArrayList<V>();
        for (int i = 0; i < values.length; i++) {
            V value = value(i);
            if (value != null) {
                all.add(value);
                values[i] = null;
            }
        }
        size = 0;
        return all;
    }
}
