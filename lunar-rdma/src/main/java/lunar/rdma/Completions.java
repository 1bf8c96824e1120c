package lunar.rdma;

import java.util.Arrays;
import java.util.Objects;

/** Batch of completions that {@link CompletionQueue#poll} fills; reused by each poll. For one thread at a time. */
public final class Completions {
    private final Completion[] entries;

    /**
     * @param capacity most completions that one poll returns
     */
    public Completions(int capacity) {
        entries = new Completion[capacity];
        Arrays.setAll(entries, _ -> new Completion());
    }

    public int capacity() { return entries.length; }

    /**
     * @param index less than the number that the last poll returned
     */
    public Completion get(int index) {
        return entries[Objects.checkIndex(index, entries.length)];
    }
}
