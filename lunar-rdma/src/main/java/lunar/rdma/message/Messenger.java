package lunar.rdma.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import lunar.rdma.Access;
import lunar.rdma.Completion;
import lunar.rdma.CompletionQueue;
import lunar.rdma.CompletionStatus;
import lunar.rdma.Completions;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionRequest;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointHandler;
import lunar.rdma.EndpointOptions;
import lunar.rdma.EndpointState;
import lunar.rdma.EventChannel;
import lunar.rdma.MemoryPool;
import lunar.rdma.MemoryRegion;
import lunar.rdma.MemorySlice;
import lunar.rdma.OperationException;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;
import lunar.rdma.RegisteredMemory;
import lunar.rdma.RemoteMemory;
import lunar.rdma.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives messages, and reads and writes memory of the peer, by blocking calls. Has its own event channel
 * and registered memory. For one thread at a time. Timeouts are in milliseconds, 0 for none.
 *
 * <p>If the connection has ended, calls throw {@link ConnectionException}; messages that have arrived before can still
 * be received.
 */
public final class Messenger implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    /** Longest wait of {@link #close} for a single completion. */
    private static final long FLUSH_MS = 100;

    private final EventChannel channel;
    private final ProtectionDomain domain;
    private final MessengerOptions options;
    private final CompletionQueue queue;
    private final MemoryPool sendPool;
    private final MemoryPool receivePool;
    private final Endpoint endpoint;
    private final WorkRequest work = new WorkRequest();
    private final Completions batch = new Completions(16);
    private final ArrayDeque<Message> arrived = new ArrayDeque<>();
    private final Operation operation = new Operation();
    private byte[] peerData = {};
    private @Nullable ConnectionException failure;

    /** The operation that a call waits for, one at a time. */
    private static final class Operation {
        private @Nullable CompletionStatus status;
    }

    /** Creates the endpoint of a messenger. */
    @FunctionalInterface
    private interface Factory {
        Endpoint create(EventChannel channel, EndpointOptions options, EndpointHandler handler)
                throws RdmaException;
    }

    private Messenger(ProtectionDomain domain, MessengerOptions options, Factory factory)
            throws RdmaException {
        this.domain = domain;
        this.options = options;
        channel = domain.openChannel();
        MemoryPool sending = null;
        MemoryPool receiving = null;
        boolean opened = false;
        try {
            queue = channel.createCompletionQueue(2 * (options.depth() + 1));
            sending = domain.createPool(options.depth(), options.messageBytes(), Access.LOCAL);
            sendPool = sending;
            receiving = domain.createPool(options.depth(), options.messageBytes(), Access.LOCAL);
            receivePool = receiving;
            endpoint = factory.create(channel, EndpointOptions.of(queue)
                    .withDepth(options.depth() + 1, options.depth())
                    .withConnectTimeout(options.timeoutMs()), new Events());
            for (int i = 0; i < options.depth(); i++) {
                postReceive(receivePool.take());
            }
            opened = true;
        } finally {
            if (!opened) {
                channel.close();
                close(sending);
                close(receiving);
            }
        }
    }

    private static void close(@Nullable MemoryPool pool) {
        if (pool != null) {
            pool.close();
        }
    }

    /** Records the events of the connection. */
    private final class Events implements EndpointHandler {
        @Override
        public void established(Endpoint of, byte[] privateData) { peerData = privateData; }

        @Override
        public void failed(Endpoint of, ConnectionException cause) { failure = cause; }

        @Override
        public void disconnected(Endpoint of) {
            failure = new ConnectionException("connection with " + of.peer() + " has ended",
                    ConnectionException.Reason.LOST);
        }
    }

    /**
     * Connects to a peer. The caller closes the messenger.
     *
     * @param domain open device, which the caller closes after the messenger
     * @param privateData passed to the peer with the request
     */
    public static Messenger connect(ProtectionDomain domain, InetSocketAddress address,
            MessengerOptions options, byte[] privateData) throws RdmaException {
        var messenger = new Messenger(domain, options, EventChannel::createEndpoint);
        return messenger.establish(() -> messenger.endpoint.connect(address, privateData));
    }

    /** Accepts a request, and waits until the connection is established. */
    static Messenger accept(ProtectionDomain domain, ConnectionRequest request,
            MessengerOptions options, byte[] privateData) throws RdmaException {
        try {
            var messenger = new Messenger(domain, options, request::createEndpoint);
            return messenger.establish(() -> request.accept(privateData));
        } finally {
            request.rejectIfUnanswered();
        }
    }

    /** Starts to establish a connection. */
    @FunctionalInterface
    private interface Start {
        void run() throws RdmaException;
    }

    private Messenger establish(Start start) throws RdmaException {
        boolean established = false;
        try {
            start.run();
            while (endpoint.state() == EndpointState.CONNECTING) {
                step(0);
            }
            requireConnected();
            established = true;
            return this;
        } finally {
            if (!established) {
                close();
            }
        }
    }

    private void requireConnected() throws ConnectionException {
        if (failure != null) {
            throw new ConnectionException(Objects.requireNonNull(failure.getMessage()),
                    failure.reason(), failure.privateData());
        }
        if (endpoint.state() != EndpointState.CONNECTED) {
            throw new ConnectionException("connection with " + endpoint.peer() + " has ended",
                    ConnectionException.Reason.LOST);
        }
    }

    /**
     * Returns the endpoint, to post operations without waiting for them. Their completions are not reported;
     * to wait for them, make a blocking call of the messenger afterwards, such as a read.
     */
    public Endpoint endpoint() { return endpoint; }

    /** Returns the private data of the peer's accept; empty on the accepting side. */
    public byte[] peerData() {
        return peerData.clone();
    }

    /** Handles available completions, or waits for some. Returns without any if the time limit expires. */
    private void step(long limitMs) throws RdmaException {
        if (drain() > 0) {
            return;
        }
        long end = System.nanoTime() + options.spinNanos();
        while (options.spinNanos() > 0 && System.nanoTime() - end < 0) {
            if (drain() > 0) {
                return;
            }
            Thread.onSpinWait();
        }
        channel.await(limitMs);
        drain();
    }

    private int drain() throws RdmaException {
        int count = queue.poll(batch);
        for (int i = 0; i < count; i++) {
            Completion one = batch.get(i);
            switch (one.attachment()) {
                case Operation waitedFor -> waitedFor.status = one.status();
                case MemorySlice slice -> {
                    if (one.operation() != lunar.rdma.Operation.RECEIVE) {
                        slice.close(); // the message has been sent
                    } else if (one.isSuccess()) {
                        arrived.add(new Message(this, slice, one.bytes()));
                    }
                }
                case null, default -> {
                } // posted by the caller
            }
        }
        return count;
    }

    /** Sends a copy of an array. */
    public void send(byte[] data) throws RdmaException {
        send(data, 0, data.length);
    }

    /**
     * Sends a copy of a part of an array. Returns once the bytes have been copied; if all buffers are in use, waits for
     * a free one first.
     *
     * @throws IllegalArgumentException if the part is longer than {@link MessengerOptions#messageBytes}
     */
    public void send(byte[] data, int offset, int length) throws RdmaException {
        Objects.checkFromIndexSize(offset, length, data.length);
        if (length > options.messageBytes()) {
            throw new IllegalArgumentException(length + " bytes; the longest message has "
                    + options.messageBytes());
        }
        MemorySlice slice = freeSlice();
        MemorySegment.copy(data, offset, slice.segment(), ValueLayout.JAVA_BYTE, 0, length);
        boolean posted = false;
        try {
            endpoint.post(work.send().add(slice, 0, length).attachment(slice));
            posted = true;
        } finally {
            if (!posted) {
                slice.close();
            }
        }
    }

    private MemorySlice freeSlice() throws RdmaException {
        while (true) {
            MemorySlice slice = sendPool.tryTake();
            if (slice != null) {
                return slice;
            }
            requireConnected();
            step(0);
        }
    }

    /** Sends registered memory without a copy. Returns when the device no longer uses it. */
    public void send(RegisteredMemory memory, long offset, long length) throws RdmaException {
        perform(work.send().add(memory, offset, length), "send");
    }

    /** Registers native memory, sends it without a copy, and deregisters it. */
    public void sendPinned(MemorySegment memory) throws RdmaException {
        try (MemoryRegion region = domain.register(memory, Set.of())) {
            send(region, 0, region.byteSize());
        }
    }

    /** Writes registered memory to memory of the peer. Returns when the data have been placed. */
    public void write(RegisteredMemory from, long offset, long length, RemoteMemory to)
            throws RdmaException {
        perform(work.write(to.slice(0, length)).add(from, offset, length), "RDMA write");
    }

    /** Reads memory of the peer into registered memory. */
    public void read(RegisteredMemory into, long offset, long length, RemoteMemory from)
            throws RdmaException {
        perform(work.read(from.slice(0, length)).add(into, offset, length), "RDMA read");
    }

    private void perform(WorkRequest request, String name) throws RdmaException {
        operation.status = null;
        request.attachment(operation);
        while (!endpoint.tryPost(request)) {
            step(0);
        }
        while (operation.status == null) {
            step(0);
        }
        if (operation.status != CompletionStatus.SUCCESS) {
            throw new OperationException(name + " to " + endpoint.peer(), operation.status);
        }
    }

    void postReceive(MemorySlice slice) throws RdmaException {
        if (endpoint.state().compareTo(EndpointState.ERROR) < 0) {
            endpoint.post(work.receive().add(slice).attachment(slice));
        }
    }

    /**
     * Receives a message without a copy. The caller closes the message; until then its memory cannot receive another
     * one.
     *
     * @return null if the timeout expires
     */
    public @Nullable Message receiveMessage(long timeoutMs) throws RdmaException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (true) {
            Message message = arrived.poll();
            if (message != null) {
                return message;
            }
            long left = 0;
            if (timeoutMs > 0) {
                left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime() + 999_999);
                if (left <= 0) {
                    return null;
                }
            }
            drain(); // messages that arrived before the end of the connection
            if (arrived.isEmpty()) {
                requireConnected();
                step(left);
            }
        }
    }

    /**
     * Receives a message and copies it to an array.
     *
     * @return length of the message in bytes; -1 if the timeout expires
     * @throws IndexOutOfBoundsException if the message is longer than the array; the message is lost
     */
    public int receive(byte[] into, long timeoutMs) throws RdmaException {
        try (Message message = receiveMessage(timeoutMs)) {
            if (message == null) {
                return -1;
            }
            MemorySegment.copy(message.segment(), ValueLayout.JAVA_BYTE, 0, into, 0,
                    message.bytes());
            return message.bytes();
        }
    }

    /**
     * Receives a message and copies it to a new array.
     *
     * @return null if the timeout expires
     */
    public byte @Nullable [] receive(long timeoutMs) throws RdmaException {
        try (Message message = receiveMessage(timeoutMs)) {
            return message == null ? null : message.segment().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /**
     * Ends the connection and frees its memory. Waits before until copies that are being sent have been sent, at most
     * for {@link MessengerOptions#timeoutMs}. Idempotent.
     */
    @Override
    public void close() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.timeoutMs());
        try {
            while (endpoint.state() == EndpointState.CONNECTED
                    && sendPool.available() < sendPool.count() && System.nanoTime() - end < 0) {
                step(FLUSH_MS);
            }
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.DEBUG, "cannot complete the sends of {0}: {1}", endpoint,
                    e.getMessage());
        }
        channel.close();
        sendPool.close();
        receivePool.close();
    }
}
