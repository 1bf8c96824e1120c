package lunar.rdma.spi;

import java.util.Arrays;
import java.util.Objects;
import lunar.rdma.CompletionStatus;

/** Reusable list of completions as a provider reports them, without an object for each. For one thread at a time. */
public final class RawCompletions {
    private long[] ids;
    private CompletionStatus[] statuses;
    private int[] bytes;
    private int[] codes;
    private int[] invalidated;
    private int[] shared;
    private int size;

    public RawCompletions(int capacity) {
        ids = new long[capacity];
        statuses = new CompletionStatus[capacity];
        bytes = new int[capacity];
        codes = new int[capacity];
        invalidated = new int[capacity];
        shared = new int[capacity];
    }

    /** Number of completions that can still be added. */
    public int room() {
        return ids.length - size;
    }

    public int size() { return size; }

    public void clear() { size = 0; }

    /** Removes the oldest entries. */
    public void removeFirst(int count) {
        Objects.checkFromIndexSize(0, count, size);
        size -= count;
        System.arraycopy(ids, count, ids, 0, size);
        System.arraycopy(statuses, count, statuses, 0, size);
        System.arraycopy(bytes, count, bytes, 0, size);
        System.arraycopy(codes, count, codes, 0, size);
        System.arraycopy(invalidated, count, invalidated, 0, size);
        System.arraycopy(shared, count, shared, 0, size);
    }

    /** Increases the capacity. */
    public void grow() {
        int capacity = Math.max(16, 2 * ids.length);
        ids = Arrays.copyOf(ids, capacity);
        statuses = Arrays.copyOf(statuses, capacity);
        bytes = Arrays.copyOf(bytes, capacity);
        codes = Arrays.copyOf(codes, capacity);
        invalidated = Arrays.copyOf(invalidated, capacity);
        shared = Arrays.copyOf(shared, capacity);
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
        statuses[Objects.checkIndex(at, size)] = status;
        bytes[at] = 0;
    }

    private void add(long id, CompletionStatus status, int length, int code, int key,
            int endpoint) {
        int at = size++;
        ids[at] = id;
        statuses[at] = status;
        bytes[at] = length;
        codes[at] = code;
        invalidated[at] = key;
        shared[at] = endpoint;
    }

    public long id(int at) { return ids[Objects.checkIndex(at, size)]; }

    public CompletionStatus status(int at) { return statuses[Objects.checkIndex(at, size)]; }

    public int bytes(int at) { return bytes[Objects.checkIndex(at, size)]; }

    public int code(int at) { return codes[Objects.checkIndex(at, size)]; }

    /** Returns the remote key that was invalidated; 0 for none. */
    public int invalidated(int at) {
        return invalidated[Objects.checkIndex(at, size)];
    }

    /** Returns the {@link EndpointSetup#sharedId} of the endpoint that took a shared receive. */
    public int shared(int at) {
        return shared[Objects.checkIndex(at, size)];
    }
}
