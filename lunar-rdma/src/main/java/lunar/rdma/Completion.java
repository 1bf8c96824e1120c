package lunar.rdma;

import org.jspecify.annotations.Nullable;

/** Result of an operation (work completion). An entry of {@link Completions}, valid until the next poll. */
public final class Completion {
    private @Nullable Endpoint endpoint;
    private Operation operation = Operation.SEND;
    private CompletionStatus status = CompletionStatus.SUCCESS;
    private int bytes;
    private int providerCode;
    private int invalidatedKey;
    private long context;
    private @Nullable Object attachment;

    Completion() {}

    void set(Endpoint of, Operation kind, long number, @Nullable Object object) {
        endpoint = of;
        operation = kind;
        context = number;
        attachment = object;
    }

    void result(CompletionStatus how, int length, int code, int key) {
        status = how;
        bytes = length;
        providerCode = code;
        invalidatedKey = key;
    }

    /** Returns the endpoint that the operation was posted to, or that took the receive from a shared receive queue. */
    public Endpoint endpoint() {
        if (endpoint == null) {
            throw new IllegalStateException("never filled");
        }
        return endpoint;
    }

    public Operation operation() { return operation; }

    public CompletionStatus status() { return status; }

    public boolean isSuccess() { return status == CompletionStatus.SUCCESS; }

    /** Length in bytes of the message that was received; meaningless for other operations. */
    public int bytes() {
        return bytes;
    }

    /** Error code of the native library, for diagnosis only; 0 for none. */
    public int providerCode() {
        return providerCode;
    }

    /** Local STag (remote key) that the received message has invalidated; 0 for none. */
    public int invalidatedKey() {
        return invalidatedKey;
    }

    /** Returns the {@link WorkRequest#context(long)} of the operation. */
    public long context() {
        return context;
    }

    /** Returns the {@link WorkRequest#attachment(Object)} of the operation. */
    public @Nullable Object attachment() {
        return attachment;
    }

    @Override
    public String toString() {
        return operation + " " + status + (operation == Operation.RECEIVE ? " " + bytes : "")
                + (providerCode == 0 ? "" : " (code " + providerCode + ")");
    }
}
