package lunar.rdma.verbs;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Map from queue pair numbers to endpoint numbers, whose lookups allocate nothing and take no lock. Lookups see changes
 * that happened before them; any thread may change the map.
 */
final class QueuePairNumbers {
    private static final int MIN_SLOTS = 4;

    /** Current entries, from which the table is built. Guarded by this. */
    private final Map<Integer, Integer> entries = new HashMap<>();
    /** Entries to remove when the completion queue is next found empty. Guarded by this. */
    private final Set<Integer> retired = new HashSet<>();
    private volatile boolean hasRetired;
    /** Pairs of key and value, with linear probing; at most half full. A value of 0 marks an empty slot. */
    private volatile int[] table = new int[2 * MIN_SLOTS];

    /** Returns the endpoint of a queue pair; 0 if there is none. */
    int get(int number) {
        int[] current = table;
        int mask = current.length / 2 - 1;
        for (int slot = number & mask;; slot = (slot + 1) & mask) {
            int value = current[2 * slot + 1];
            if (value == 0 || current[2 * slot] == number) {
                return value;
            }
        }
    }

    /**
     * Adds a queue pair.
     *
     * @param value number of the endpoint, not 0
     */
    synchronized void put(int number, int value) {
        entries.put(number, value);
        retired.remove(number);
        rebuild();
    }

    /** Marks a destroyed queue pair for removal, since the completion queue may still have completions of it. */
    synchronized void retire(int number) {
        if (entries.containsKey(number)) {
            retired.add(number);
            hasRetired = true;
        }
    }

    /** Removes the marked queue pairs; called when the completion queue is empty. */
    void removeRetired() {
        if (hasRetired) {
            synchronized (this) {
                hasRetired = false;
                if (entries.keySet().removeAll(retired)) {
                    rebuild();
                }
                retired.clear();
            }
        }
    }

    private void rebuild() {
        int slots = Math.max(MIN_SLOTS, Integer.highestOneBit(entries.size()) * 4);
        int[] next = new int[2 * slots];
        entries.forEach((number, value) -> {
            int slot = number & (slots - 1);
            while (next[2 * slot + 1] != 0) {
                slot = (slot + 1) & (slots - 1);
            }
            next[2 * slot] = number;
            next[2 * slot + 1] = value;
        });
        table = next;
    }
}
