package lunar.rdma;

import java.util.Arrays;
import java.util.Objects;

/** Batch of completions, which {@link CompletionQueue#poll} fills; reused by each poll. One thread at a time. */
public final class Completions {
    private final Completion[] entries;

    /**
     * @param capacity most completions that one poll gives
     */
    public Completions(int capacity) {
        entries = new Completion[capacity];
        Arrays.setAll(entries, _ -> new Completion());
    }

    public int capacity() { return entries.length; }

    /**
     * @param index below the number that the poll returned
     */
    public Completion get(int index) {
        return entries[Objects.checkIndex(index, entries.length)];
    }
}
