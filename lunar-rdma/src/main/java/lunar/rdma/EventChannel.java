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
 * Where connections report their events and completion queues are waited for; made by
 * {@link ProtectionDomain#openChannel}. An event loop has a channel of its own: it alternates between {@link #poll}, or
 * {@link #await}, and {@link CompletionQueue#poll}.
 *
 * <p>Belongs to one thread at a time, which runs the handlers as well; {@link #wakeup}, {@link #createEndpoint} and
 * {@link #createCompletionQueue} may be called by any thread.
 */
public final class EventChannel implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    private static final int BACKLOG = 128;
    private static final long LOOK_NANOS = 20_000;

    /** An endpoint that must be connected by then. */
    private record Deadline(Endpoint endpoint, long nanoTime) {}

    private final ProviderChannel provider;
    private final DomainId domain;
    private final DeviceInfo device;
    private final Runnable closed;

    private final List<CompletionQueue> queues = new CopyOnWriteArrayList<>();
    /** Guarded by itself, like the other sets of what is open. */
    private final Set<Endpoint> endpoints = new LinkedHashSet<>();
    private final Set<Listener> listeners = new LinkedHashSet<>();
    /** Requests that are neither accepted nor rejected; of the channel's thread. */
    private final Set<ConnectionRequest> unanswered = new LinkedHashSet<>();
    /** Guarded by endpoints. */
    private final List<Deadline> deadlines = new ArrayList<>();
    /** Events that are to be reported. */
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
     * Makes a completion queue.
     *
     * @param depth at least the sum of the depths of all queues of endpoints that will report to it
     */
    public CompletionQueue createCompletionQueue(int depth) throws RdmaException {
        requireOpen();
        if (depth < 1 || depth > device.limits().maxCompletionDepth()) {
            throw new IllegalArgumentException("depth " + depth + "; " + device.name()
                    + " allows 1 to " + device.limits().maxCompletionDepth());
        }
        var queue = new CompletionQueue(provider.createQueue(depth), depth, queues::remove);
        queues.add(queue);
        return queue;
    }

    /**
     * Makes an endpoint for a connect.
     *
     * @param options with completion queues of this channel
     * @throws QueueFullException if these have no room for it
     */
    public Endpoint createEndpoint(EndpointOptions options, EndpointHandler handler)
            throws RdmaException {
        return create(options, handler, provider::createEndpoint);
    }

    /** Makes the endpoint for a request, which another channel may have reported. */
    Endpoint createEndpoint(EndpointOptions options, EndpointHandler handler,
            ProviderRequest request) throws RdmaException {
        return create(options, handler,
                (setup, events) -> request.createEndpoint(provider, setup, events));
    }

    private Endpoint create(EndpointOptions options, EndpointHandler handler,
            Endpoint.Factory factory) throws RdmaException {
        requireOpen();
        if (!queues.contains(options.sendQueue()) || !queues.contains(options.receiveQueue())) {
            throw new IllegalArgumentException("completion queue of another channel");
        }
        var endpoint = new Endpoint(new Owner(), domain, device, options, handler, factory);
        synchronized (endpoints) {
            endpoints.add(endpoint);
        }
        return endpoint;
    }

    /**
     * Listens on a local address; port 0 picks a free one.
     *
     * @throws ConnectionException if the address is in use, or not one of this device
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
            LOG.log(System.Logger.Level.ERROR, "handler of the request of " + request.peer(), e);
            request.rejectIfUnanswered();
        }
    }

    private void forget(Listener listener) {
        synchronized (listeners) {
            listeners.remove(listener);
        }
    }

    /**
     * Handles connection events that are there, without waiting for one. Loops that spin may call this as often as they
     * like: it looks for events, which is a system call with most devices, once in 20 microseconds.
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
     * Waits until there are completions or connection events, then handles the latter. Returns without one after
     * {@link #wakeup}, when the time is over, or for no reason.
     *
     * @param limitMs longest wait in milliseconds; 0 for no limit
     */
    public void await(long limitMs) throws RdmaException {
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

    /** Time to the next deadline, rounded up; negative for none. */
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

    /** Ends the {@link #await} that is under way; without one, the next returns at once. Any thread, any time. */
    public void wakeup() {
        provider.wakeup();
    }

    /** Number of endpoints and listeners that are open. */
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
     * Closes all endpoints, listeners and completion queues of the channel, then the channel. Requests that are not
     * answered are rejected. Idempotent.
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
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

    private final class Owner implements Endpoint.Owner {
        @Override
        public void connecting(Endpoint endpoint, int timeoutMs) {
            synchronized (endpoints) {
                deadlines.add(new Deadline(endpoint,
                        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs)));
            }
            provider.wakeup(); // a wait that is under way does not know of the deadline
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
