package lunar.rdma;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Describes an operation to post: its kind, the segments of local memory (scatter/gather list), and the remote memory.
 * Reusable as soon as the post has returned; filling it allocates nothing.
 *
 * <pre>{@code
 * request.send().add(header, 0, 28).add(data, 0, length).context(tag);
 * endpoint.post(request);
 * request.write(remoteAddress, remoteKey).add(data, 0, length).unsignalled();
 * endpoint.post(request);
 * }</pre>
 *
 * <p>A method that names the kind comes first, and resets everything else. Not thread-safe.
 */
public final class WorkRequest {
    private final RegisteredMemory[] memory = new RegisteredMemory[DeviceLimits.MAX_SEGMENTS];
    private final long[] addresses = new long[DeviceLimits.MAX_SEGMENTS];
    private final int[] lengths = new int[DeviceLimits.MAX_SEGMENTS];
    private int segments;
    private long bytes;
    private Operation operation = Operation.SEND;
    private long remoteAddress;
    private int remoteKey;
    private boolean signalled;
    private boolean inline;
    private long context;
    private @Nullable Object attachment;

    /** Creates a request that describes an empty send. */
    public WorkRequest() { signalled = true; }

    /** Starts the description of a send. */
    public WorkRequest send() {
        return start(Operation.SEND, 0, 0);
    }

    /**
     * Starts the description of a Send with Invalidate; needs {@link Capability#SEND_WITH_INVALIDATE}.
     *
     * @param key STag (remote key) of the peer's memory that the peer's device invalidates
     */
    public WorkRequest sendAndInvalidate(int key) {
        return start(Operation.SEND_INVALIDATE, 0, key);
    }

    /** Starts the description of an RDMA write of the local segments to memory of the peer. */
    public WorkRequest write(long address, int key) {
        return start(Operation.WRITE, address, key);
    }

    /** Starts the description of an RDMA write to the beginning of memory of the peer. */
    public WorkRequest write(RemoteMemory to) {
        return write(to.address(), to.key());
    }

    /** Starts the description of an RDMA read of memory of the peer into the local segments. */
    public WorkRequest read(long address, int key) {
        return start(Operation.READ, address, key);
    }

    /** Starts the description of an RDMA read from the beginning of memory of the peer. */
    public WorkRequest read(RemoteMemory from) {
        return read(from.address(), from.key());
    }

    /** Starts the description of a receive of one message, which fills the local segments in order. */
    public WorkRequest receive() {
        return start(Operation.RECEIVE, 0, 0);
    }

    private WorkRequest start(Operation kind, long address, int key) {
        operation = kind;
        remoteAddress = address;
        remoteKey = key;
        segments = 0;
        bytes = 0;
        signalled = true;
        inline = false;
        context = 0;
        attachment = null;
        return this;
    }

    /** Adds all of a piece of registered memory as a segment. */
    public WorkRequest add(RegisteredMemory piece) {
        return add(piece, 0, piece.byteSize());
    }

    /**
     * Adds a part of a piece of registered memory as a segment.
     *
     * @throws IndexOutOfBoundsException if the part is not within the memory, or longer than 2 GiB - 1
     * @throws IllegalStateException if the request has {@link DeviceLimits#MAX_SEGMENTS} segments already
     */
    public WorkRequest add(RegisteredMemory piece, long offset, long length) {
        if (offset < 0 || length < 0 || length > Integer.MAX_VALUE
                || offset > piece.byteSize() - length) {
            throw new IndexOutOfBoundsException(
                    offset + " + " + length + " of " + piece.byteSize() + " bytes");
        }
        if (segments == DeviceLimits.MAX_SEGMENTS) {
            throw new IllegalStateException("more than " + segments + " segments");
        }
        memory[segments] = piece;
        addresses[segments] = piece.address() + offset;
        lengths[segments++] = (int) length;
        bytes += length;
        return this;
    }

    /**
     * Makes the request unsignalled: its completion is reported only if it fails. The memory remains in use until a
     * later operation of the same queue has completed, so at least one in every {@link EndpointOptions#sendDepth} / 2
     * operations should be signalled. Not for receives.
     */
    public WorkRequest unsignalled() {
        signalled = false;
        return this;
    }

    /**
     * Makes the request inline: the bytes are copied while it is posted, so that the memory can be modified once the
     * post has returned. For sends and writes of at most {@link EndpointOptions#inlineBytes}.
     */
    public WorkRequest inline() {
        inline = true;
        return this;
    }

    /** Sets a number of the caller's choice, which the completion returns. */
    public WorkRequest context(long value) {
        context = value;
        return this;
    }

    /** Sets an object of the caller's choice, which the completion returns. */
    public WorkRequest attachment(@Nullable Object value) {
        attachment = value;
        return this;
    }

    /** Returns an independent request that describes the same operation. */
    public WorkRequest copy() {
        var copy = new WorkRequest().start(operation, remoteAddress, remoteKey);
        System.arraycopy(memory, 0, copy.memory, 0, segments);
        System.arraycopy(addresses, 0, copy.addresses, 0, segments);
        System.arraycopy(lengths, 0, copy.lengths, 0, segments);
        copy.segments = segments;
        copy.bytes = bytes;
        copy.signalled = signalled;
        copy.inline = inline;
        copy.context = context;
        copy.attachment = attachment;
        return copy;
    }

    public Operation operation() { return operation; }

    /** Number of segments of local memory. */
    public int segments() { return segments; }

    /** Registered memory that a segment is part of. */
    public RegisteredMemory memory(int segment) {
        return memory[Objects.checkIndex(segment, segments)];
    }

    /** Native address of a segment. */
    public long address(int segment) {
        return addresses[segment];
    }

    /** Length of a segment in bytes. */
    public int length(int segment) { return lengths[segment]; }

    /** Total length of all segments in bytes. */
    public long bytes() { return bytes; }

    /** Address of the peer's memory, for writes and reads. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** Remote key of the peer's memory, for writes and reads; for a Send with Invalidate, the key to invalidate. */
    public int remoteKey() {
        return remoteKey;
    }

    public boolean isSignalled() { return signalled; }

    public boolean isInline() { return inline; }

    public long context() { return context; }

    public @Nullable Object attachment() { return attachment; }
}
