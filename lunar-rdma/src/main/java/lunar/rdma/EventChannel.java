package lunar.rdma;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderRequest;

/**
 * Dispatches the events of connections to their handlers, and waits for these events and for completions. Opened by
 * {@link ProtectionDomain#openChannel}. Each event loop has a channel of its own, and alternates between {@link #poll}
 * or {@link #await}, and {@link CompletionQueue#poll}.
 *
 * <p>For one thread at a time, which also runs the handlers; {@link #wakeup}, {@link #createEndpoint} and
 * {@link #createCompletionQueue} may be called by any thread. The opener closes the channel.
 */
public final class EventChannel implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    private static final int BACKLOG = 128;
    private static final long LOOK_NANOS = 20_000;

    /** An endpoint, and the time by which it must be connected. */
    private record Deadline(Endpoint endpoint, long nanoTime) {}

    private final ProviderChannel provider;
    private final DomainId domain;
    private final DeviceInfo device;
    private final Runnable closed;

    private final List<CompletionQueue> queues = new CopyOnWriteArrayList<>();
    /** Open endpoints; guarded by itself, as is the set of listeners. */
    private final Set<Endpoint> endpoints = new LinkedHashSet<>();
    private final Set<Listener> listeners = new LinkedHashSet<>();
    /** Requests that have neither an endpoint nor been rejected; for the channel's thread only. */
    private final Set<ConnectionRequest> unanswered = new LinkedHashSet<>();
    /** Number of creations in progress. Guarded by {@link #endpoints}, as are the deadlines. */
    private int creations;
    private final List<Deadline> deadlines = new ArrayList<>();
    /** Events to be reported by the channel's thread. */
    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private volatile long lookedNanos = System.nanoTime() - LOOK_NANOS;
    private volatile boolean isClosed;

    /**
     * @param domain identity of the protection domain
     */
    EventChannel(ProviderChannel provider, DomainId domain, DeviceInfo device, Runnable closed) {
        this.provider = provider;
        this.domain = domain;
        this.device = device;
        this.closed = closed;
    }

    /**
     * Creates a completion queue.
     *
     * @param depth at least the sum of the depths of all send and receive queues that will report to it; a shared
     *        receive queue counts once for each of its endpoints
     */
    public CompletionQueue createCompletionQueue(int depth) throws RdmaException {
        if (depth < 1 || depth > device.limits().maxCompletionDepth()) {
            throw new IllegalArgumentException("depth " + depth + "; " + device.name()
                    + " allows 1 to " + device.limits().maxCompletionDepth());
        }
        beginCreation();
        try {
            var queue = new CompletionQueue(provider.createQueue(depth), depth, queues::remove);
            queues.add(queue);
            return queue;
        } finally {
            endCreation();
        }
    }

    /**
     * Creates an endpoint that will connect to a peer.
     *
     * @param options settings, with completion queues of this channel
     * @throws QueueFullException if the completion queues have no room for its operations
     */
    public Endpoint createEndpoint(EndpointOptions options, EndpointHandler handler)
            throws RdmaException {
        return create(options, handler, provider::createEndpoint);
    }

    /** Creates the endpoint for a request, which another channel may have reported. */
    Endpoint createEndpoint(EndpointOptions options, EndpointHandler handler,
            ProviderRequest request) throws RdmaException {
        return create(options, handler,
                (setup, events) -> request.createEndpoint(provider, setup, events));
    }

    private Endpoint create(EndpointOptions options, EndpointHandler handler,
            Endpoint.Factory factory) throws RdmaException {
        if (!queues.contains(options.sendQueue()) || !queues.contains(options.receiveQueue())) {
            throw new IllegalArgumentException("completion queue of another channel");
        }
        beginCreation();
        try {
            var endpoint = new Endpoint(new Owner(), domain, device, options, handler, factory);
            synchronized (endpoints) {
                endpoints.add(endpoint);
            }
            return endpoint;
        } finally {
            endCreation();
        }
    }

    /** Delays a close, which frees what has been created. */
    private void beginCreation() {
        synchronized (endpoints) {
            requireOpen();
            creations++;
        }
    }

    private void endCreation() {
        synchronized (endpoints) {
            creations--;
            endpoints.notifyAll();
        }
    }

    /**
     * Listens on a local address; port 0 picks a free one.
     *
     * @throws ConnectionException if the address is in use, or does not belong to this device
     */
    public Listener listen(InetSocketAddress address, ConnectionHandler handler)
            throws RdmaException {
        requireOpen();
        var listener = new Listener(provider.listen(address, BACKLOG, new ListenerEvents() {
            @Override
            public void requested(ProviderRequest request) {
                report(new ConnectionRequest(request, device.limits(), EventChannel.this,
                        unanswered::remove), handler);
            }

            @Override
            public void failed(RdmaException cause) { handler.failed(cause); }
        }), this::forget);
        synchronized (listeners) {
            listeners.add(listener);
        }
        return listener;
    }

    private void report(ConnectionRequest request, ConnectionHandler handler) {
        unanswered.add(request);
        try {
            handler.requested(request);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR,
                    "handler of the connection request of " + request.peer() + " failed", e);
            request.rejectIfUnanswered();
        }
    }

    private void forget(Listener listener) {
        synchronized (listeners) {
            listeners.remove(listener);
        }
    }

    /**
     * Handles pending connection events without waiting. Cheap enough for a busy-polling loop: checking for events is a
     * system call with most devices, so the channel does it at most once every 20 microseconds.
     */
    public void poll() throws RdmaException {
        long now = System.nanoTime();
        if (now - lookedNanos >= LOOK_NANOS) {
            lookedNanos = now;
            look();
        }
    }

    private void look() throws RdmaException {
        provider.poll();
        for (Runnable event; (event = events.poll()) != null;) {
            event.run();
        }
        for (Deadline due : due()) {
            due.endpoint().timeOut();
        }
    }

    private List<Deadline> due() {
        synchronized (endpoints) {
            if (deadlines.isEmpty()) {
                return List.of();
            }
            long now = System.nanoTime();
            var due = new ArrayList<Deadline>();
            deadlines.removeIf(deadline -> {
                boolean isDue = deadline.nanoTime() - now <= 0;
                if (isDue) {
                    due.add(deadline);
                }
                return isDue || deadline.endpoint().state() != EndpointState.CONNECTING;
            });
            return due;
        }
    }

    /**
     * Waits until there are completions or connection events, then handles the events as {@link #poll} does. Also
     * returns after {@link #wakeup}, when the time limit expires, and spuriously.
     *
     * @param limitMs time limit in milliseconds; 0 for none
     */
    public void await(long limitMs) throws RdmaException {
        for (CompletionQueue queue : queues) {
            if (queue.isReady()) { // to arm it and to look for events is more expensive
                poll();
                return;
            }
        }
        boolean mayWait = events.isEmpty();
        for (CompletionQueue queue : queues) {
            mayWait &= queue.arm();
        }
        if (mayWait && events.isEmpty()) {
            long untilDeadline = untilDeadlineMs();
            if (untilDeadline < 0) {
                provider.await(limitMs);
            } else if (untilDeadline > 0) {
                provider.await(
                        limitMs == 0 ? untilDeadline : Math.min(limitMs, untilDeadline));
            }
        }
        lookedNanos = System.nanoTime();
        look();
    }

    /** Milliseconds until the next deadline, rounded up; negative if there is none. */
    private long untilDeadlineMs() {
        synchronized (endpoints) {
            if (deadlines.isEmpty()) {
                return -1;
            }
            long now = System.nanoTime();
            long least = Long.MAX_VALUE;
            for (Deadline deadline : deadlines) {
                least = Math.min(least, deadline.nanoTime() - now);
            }
            return Math.max(0, Math.ceilDiv(least, TimeUnit.MILLISECONDS.toNanos(1)));
        }
    }

    /** Makes the current or, if there is none, the next {@link #await} return at once. Any thread, any time. */
    public void wakeup() {
        provider.wakeup();
    }

    /** Number of open endpoints and listeners. */
    public int size() {
        int count;
        synchronized (endpoints) {
            count = endpoints.size();
        }
        synchronized (listeners) {
            return count + listeners.size();
        }
    }

    private void requireOpen() {
        if (isClosed) {
            throw new IllegalStateException("channel is closed");
        }
    }

    /**
     * Closes all endpoints, listeners and completion queues of the channel, then the channel. Pending connection
     * requests are rejected. Idempotent.
     */
    @Override
    public void close() {
        synchronized (endpoints) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        awaitCreations();
        List.copyOf(unanswered).forEach(ConnectionRequest::rejectIfUnanswered);
        List<Endpoint> open;
        synchronized (endpoints) {
            open = List.copyOf(endpoints);
        }
        open.forEach(Endpoint::close);
        List<Listener> listening;
        synchronized (listeners) {
            listening = List.copyOf(listeners);
        }
        listening.forEach(Listener::close);
        queues.forEach(CompletionQueue::close);
        provider.close();
        closed.run();
    }

    private void awaitCreations() {
        boolean interrupted = false;
        synchronized (endpoints) {
            while (creations > 0) {
                try {
                    endpoints.wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Owner implements Endpoint.Owner {
        @Override
        public void connecting(Endpoint endpoint, int timeoutMs) {
            synchronized (endpoints) {
                deadlines.add(new Deadline(endpoint,
                        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs)));
            }
            provider.wakeup(); // a wait in progress does not consider the new deadline
        }

        @Override
        public void later(Runnable event) {
            events.add(event);
            lookedNanos = System.nanoTime() - LOOK_NANOS;
            provider.wakeup();
        }

        @Override
        public void closed(Endpoint endpoint) {
            synchronized (endpoints) {
                endpoints.remove(endpoint);
                deadlines.removeIf(deadline -> deadline.endpoint() == endpoint);
            }
        }
    }
}
