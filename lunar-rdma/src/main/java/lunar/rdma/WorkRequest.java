package lunar.rdma;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Description of an operation: its kind, the pieces of local memory, the remote memory. Filled anew for each operation
 * and used again as soon as the post has returned; allocates nothing.
 *
 * <pre>{@code
 * request.send().add(header, 0, 28).add(data, 0, length).context(tag);
 * endpoint.post(request);
 * request.write(remoteAddress, remoteKey).add(data, 0, length).unsignalled();
 * endpoint.post(request);
 * }</pre>
 *
 * <p>A method that names the kind comes first and clears the rest. Not for use by several threads at a time.
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

    /** Makes a request that describes an empty send. */
    public WorkRequest() { signalled = true; }

    /** Starts the description of a send. */
    public WorkRequest send() {
        return start(Operation.SEND, 0, 0);
    }

    /**
     * Starts the description of a send that invalidates a key of the peer; needs
     * {@link Capability#SEND_WITH_INVALIDATE}.
     */
    public WorkRequest sendAndInvalidate(int key) {
        return start(Operation.SEND_INVALIDATE, 0, key);
    }

    /** Starts the description of an RDMA write of the local pieces to memory of the peer. */
    public WorkRequest write(long address, int key) {
        return start(Operation.WRITE, address, key);
    }

    /** Starts the description of an RDMA write to the start of memory of the peer. */
    public WorkRequest write(RemoteMemory to) {
        return write(to.address(), to.key());
    }

    /** Starts the description of an RDMA read of memory of the peer into the local pieces. */
    public WorkRequest read(long address, int key) {
        return start(Operation.READ, address, key);
    }

    /** Starts the description of an RDMA read from the start of memory of the peer. */
    public WorkRequest read(RemoteMemory from) {
        return read(from.address(), from.key());
    }

    /** Starts the description of a receive: the pieces take one message, one after the other. */
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

    /** Adds all of a piece of memory. */
    public WorkRequest add(RegisteredMemory piece) {
        return add(piece, 0, piece.byteSize());
    }

    /**
     * Adds a part of a piece of memory.
     *
     * @throws IndexOutOfBoundsException if the part is not within it
     * @throws IllegalStateException if there are {@link DeviceLimits#MAX_SEGMENTS} parts already
     */
    public WorkRequest add(RegisteredMemory piece, long offset, long length) {
        if (offset < 0 || length < 0 || length > Integer.MAX_VALUE
                || offset > piece.byteSize() - length) {
            throw new IndexOutOfBoundsException(
                    offset + " + " + length + " of " + piece.byteSize() + " bytes");
        }
        if (segments == DeviceLimits.MAX_SEGMENTS) {
            throw new IllegalStateException("more than " + segments + " pieces");
        }
        memory[segments] = piece;
        addresses[segments] = piece.address() + offset;
        lengths[segments++] = (int) length;
        bytes += length;
        return this;
    }

    /**
     * Success is not reported; an error is. The memory remains in use until a later operation of the same queue has
     * completed: post a signalled one at least every half {@link EndpointOptions#sendDepth}. Not for receives.
     */
    public WorkRequest unsignalled() {
        signalled = false;
        return this;
    }

    /**
     * The bytes are copied while posting, so that the memory can be changed once the post has returned. At most
     * {@link EndpointOptions#inlineBytes}; sends and writes only.
     */
    public WorkRequest inline() {
        inline = true;
        return this;
    }

    /** Number of the caller, which its completion shows. */
    public WorkRequest context(long value) {
        context = value;
        return this;
    }

    /** Object of the caller, which its completion shows. */
    public WorkRequest attachment(@Nullable Object value) {
        attachment = value;
        return this;
    }

    /** A request of its own that describes the same operation. */
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

    /** Number of pieces of local memory. */
    public int segments() { return segments; }

    /** Registered memory that a piece is part of. */
    public RegisteredMemory memory(int segment) {
        return memory[Objects.checkIndex(segment, segments)];
    }

    /** Native address of a piece. */
    public long address(int segment) { return addresses[segment]; }

    /** Length of a piece. */
    public int length(int segment) { return lengths[segment]; }

    /** Length of all pieces. */
    public long bytes() { return bytes; }

    /** Address of the peer's memory, for writes and reads. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** Key of the peer's memory, for writes and reads, and the one to invalidate. */
    public int remoteKey() {
        return remoteKey;
    }

    public boolean isSignalled() { return signalled; }

    public boolean isInline() { return inline; }

    public long context() { return context; }

    public @Nullable Object attachment() { return attachment; }
}
