package lunar.rdma.libfabric;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderListener;
import lunar.rdma.spi.ProviderQueue;

/**
 * Watches the sockets of connections, and lets a thread sleep until a peer wakes it up. libfabric's shm has nothing to
 * wait for. So a thread that sleeps notes this on the {@link ShmBoard}, and a peer that has posted something for it
 * writes a byte to a socket ("rings").
 *
 * <p>A peer does not ring when it has room for messages again. So the thread sleeps only briefly while the peer has not
 * copied all posted messages.
 */
final class ShmChannel implements ProviderChannel {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    private static final long SHORT_SLEEP_MS = 1;

    private final ShmDomain domain;
    private final int slot;
    private final Selector selector;
    private final Set<ShmEndpoint> endpoints = ConcurrentHashMap.newKeySet();
    /** Endpoints with operations to post again, since libfabric had no room for them. */
    private final AtomicInteger backlogs = new AtomicInteger();
    /** Of the channel's thread. */
    private final Set<ShmListener> listeners = ConcurrentHashMap.newKeySet();
    private boolean isSleeping;
    /** Number of the latest sleep; not 0 after the first. */
    private int sleeps;
    private final WakeUps wakeUps = new WakeUps();
    /** Whether {@link #wakeup} was called since the latest {@link #await}; {@link #poll} does not take it away. */
    private volatile boolean isWoken;
    /** Whether {@link #await} has selected keys, which the next {@link #poll} handles. */
    private boolean hasSelected;

    ShmChannel(ShmDomain domain) throws ProviderException {
        this.domain = domain;
        slot = domain.takeChannel();
        try {
            selector = Selector.open();
        } catch (IOException e) {
            domain.giveChannel(slot);
            throw new ProviderException("selector: " + e, Numbers.ENOMEM);
        }
    }

    ShmDomain domain() { return domain; }

    int slot() { return slot; }

    @Override
    public ProviderQueue createQueue(int depth) throws RdmaException { return new ShmQueue(this); }

    @Override
    public ProviderListener listen(InetSocketAddress address, int backlog, ListenerEvents events)
            throws RdmaException {
        var listener = new ShmListener(this, address, backlog, events);
        listeners.add(listener);
        return listener;
    }

    void remove(ShmListener listener) { listeners.remove(listener); }

    @Override
    public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws RdmaException {
        var endpoint = new ShmEndpoint(this, setup, events);
        endpoints.add(endpoint);
        return endpoint;
    }

    /**
     * Creates the endpoint that accepts a request.
     *
     * @param from channel that has watched the link until now
     * @param peer belongs to the endpoint from now on, unless this fails
     */
    ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events, ShmChannel from,
            ShmLink link, ShmPeer peer) throws RdmaException {
        var endpoint = new ShmEndpoint(this, setup, events);
        endpoints.add(endpoint);
        if (from != this) {
            from.release(link);
        }
        endpoint.answer(link, peer);
        if (from != this) {
            try {
                register(link.socket(), SelectionKey.OP_READ, link);
            } catch (IOException e) {
                link.close(); // makes the accept fail
            }
        }
        return endpoint;
    }

    /** Ends watching a link, which another channel watches from now on. */
    private void release(ShmLink link) {
        SelectionKey key = link.socket().keyFor(selector);
        if (key != null) {
            key.cancel();
        }
    }

    void remove(ShmEndpoint endpoint) { endpoints.remove(endpoint); }

    /**
     * Watches a socket.
     *
     * @param user a {@link ShmLink} or {@link ShmListener}
     */
    void register(SelectableChannel socket, int operations, Object user) throws IOException {
        socket.configureBlocking(false);
        socket.register(selector, operations, user);
        selector.wakeup();
    }

    /** Runs the selector, since closed sockets remain open until it runs next. */
    void forgetClosed() {
        try {
            selector.selectNow();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "selector: {0}", e.toString());
        }
    }

    void backlogStarted() { backlogs.incrementAndGet(); }

    void backlogEnded() { backlogs.decrementAndGet(); }

    boolean hasBacklog() { return backlogs.get() > 0; }

    /** Posts operations that libfabric had no room for. */
    void postBacklog() {
        endpoints.forEach(ShmEndpoint::postBacklog);
    }

    /** Has peers ring, and this process wake the thread up, from now on until {@link #poll}. */
    void announceSleep() {
        isSleeping = true;
        sleeps = sleeps == -1 ? 1 : sleeps + 1;
        domain.board().setSleep(slot, sleeps);
    }

    @Override
    public void poll() throws RdmaException {
        if (isSleeping) {
            isSleeping = false;
            domain.board().setSleep(slot, 0);
        }
        if (!hasSelected) {
            try {
                selector.selectNow();
            } catch (IOException e) {
                throw new ProviderException("selector: " + e, Numbers.EINVAL);
            }
        }
        hasSelected = false;
        Set<SelectionKey> ready = selector.selectedKeys();
        if (!ready.isEmpty()) {
            for (SelectionKey key : ready.toArray(SelectionKey[]::new)) {
                if (key.isValid()) {
                    switch (key.attachment()) {
                        case ShmLink link -> link.ready(key);
                        case ShmListener listener -> listener.accept();
                        default -> throw new AssertionError(key.attachment());
                    }
                }
            }
            ready.clear();
        }
        listeners.forEach(ShmListener::closeSilent);
        for (ShmEndpoint endpoint : endpoints) {
            if (endpoint.isConnecting()) {
                endpoint.progress();
            }
            endpoint.endIfLost();
        }
    }

    @Override
    public void await(long limitMs) throws RdmaException {
        long limit = limitMs;
        for (ShmEndpoint endpoint : endpoints) {
            if (endpoint.needsPolling()) {
                limit = SHORT_SLEEP_MS;
                break;
            }
        }
        for (ShmListener listener : listeners) {
            if (listener.hasSilent()) {
                limit = limit == 0
                        ? ShmListener.SILENCE_MS
                        : Math.min(limit, ShmListener.SILENCE_MS);
                break;
            }
        }
        try {
            if (isWoken) {
                selector.selectNow();
            } else {
                selector.select(limit);
            }
            isWoken = false;
            hasSelected = true;
        } catch (IOException e) {
            throw new ProviderException("selector: " + e, Numbers.EINVAL);
        }
    }

    @Override
    public void wakeup() {
        isWoken = true;
        selector.wakeup();
    }

    /**
     * Wakes the channel's thread up if it sleeps or is about to, since there is something to poll. Any thread, after
     * what {@link ShmBoard#sleep} requires.
     */
    void wakeSleeping() {
        if (wakeUps.take(domain.board().sleep(slot))) {
            selector.wakeup();
        }
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "selector: {0}", e.toString());
        }
        domain.giveChannel(slot);
    }
}
