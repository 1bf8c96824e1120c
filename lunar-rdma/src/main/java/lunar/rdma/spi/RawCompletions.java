package lunar.rdma.spi;

import java.util.Arrays;
import java.util.Objects;
import lunar.rdma.CompletionStatus;

/** Reusable list of completions as a provider reports them, without an object for each. For one thread at a time. */
public final class RawCompletions {
    /** A completion. */
    private static final class Entry {
        private long id;
        private CompletionStatus status = CompletionStatus.SUCCESS;
        private int bytes;
        private int code;
        private int invalidated;
        private int shared;
    }

    private Entry[] entries;
    private int size;

    public RawCompletions(int capacity) {
        entries = new Entry[capacity];
        Arrays.setAll(entries, _ -> new Entry());
    }

    /** Number of completions that can still be added. */
    public int room() {
        return entries.length - size;
    }

    public int size() { return size; }

    public void clear() { size = 0; }

    /** Removes the oldest entries. */
    public void removeFirst(int count) {
        Objects.checkFromIndexSize(0, count, size);
        Entry[] removed = Arrays.copyOf(entries, count);
        System.arraycopy(entries, count, entries, 0, size - count);
        System.arraycopy(removed, 0, entries, size - count, count);
        size -= count;
    }

    /** Increases the capacity. */
    public void grow() {
        int before = entries.length;
        entries = Arrays.copyOf(entries, Math.max(16, 2 * before));
        for (int i = before; i < entries.length; i++) {
            entries[i] = new Entry();
        }
    }

    /**
     * Adds a completed operation.
     *
     * @param id id with which the operation was posted
     * @param length length of the message, for receives
     */
    public void add(long id, int length) { add(id, CompletionStatus.SUCCESS, length, 0, 0, 0); }

    /**
     * Adds an operation with its status.
     *
     * @param code error code of the native library; 0 for none
     */
    public void addResult(long id, CompletionStatus status, int code) {
        add(id, status, 0, code, 0, 0);
    }

    /** Adds a completed receive of a message that has invalidated a remote key (STag) of this side. */
    public void addInvalidated(long id, int length, int key) {
        add(id, CompletionStatus.SUCCESS, length, 0, key, 0);
    }

    /**
     * Adds a receive that was posted to a shared queue.
     *
     * @param endpoint {@link EndpointSetup#sharedId} of the endpoint that took it
     * @param key remote key that the message has invalidated; 0 for none
     */
    public void addShared(long id, int endpoint, CompletionStatus status, int length, int code,
            int key) {
        add(id, status, length, code, key, endpoint);
    }

    /** Replaces the status of an entry, whose message is not to be used. */
    public void fail(int at, CompletionStatus status) {
        Entry entry = entry(at);
        entry.status = status;
        entry.bytes = 0;
    }

    private void add(long id, CompletionStatus status, int length, int code, int key,
            int endpoint) {
        Entry entry = entries[size];
        size++;
        entry.id = id;
        entry.status = status;
        entry.bytes = length;
        entry.code = code;
        entry.invalidated = key;
        entry.shared = endpoint;
    }

    private Entry entry(int at) { return entries[Objects.checkIndex(at, size)]; }

    public long id(int at) { return entry(at).id; }

    public CompletionStatus status(int at) { return entry(at).status; }

    public int bytes(int at) { return entry(at).bytes; }

    public int code(int at) { return entry(at).code; }

    /** Returns the remote key that was invalidated; 0 for none. */
    public int invalidated(int at) {
        return entry(at).invalidated;
    }

    /** Returns the {@link EndpointSetup#sharedId} of the endpoint that took a shared receive. */
    public int shared(int at) {
        return entry(at).shared;
    }
}
