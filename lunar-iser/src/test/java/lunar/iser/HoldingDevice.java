package lunar.iser;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.rdma.CompletionStatus;
import lunar.rdma.Operation;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ForwardingChannel;
import lunar.rdma.spi.ForwardingDevice;
import lunar.rdma.spi.ForwardingEndpoint;
import lunar.rdma.spi.ForwardingRequest;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.ProviderRequest;
import lunar.rdma.spi.RawCompletions;

/**
 * Wraps a device and can delay completions, as a slow adapter does: those of operations, and those that report flushed
 * operations after the end of a connection.
 */
final class HoldingDevice extends ForwardingDevice {
    private final List<Endpoint> endpoints = new CopyOnWriteArrayList<>();
    private final AtomicInteger reads = new AtomicInteger();
    private volatile boolean holding;
    /** Held by a poll, so that none that began before {@link #hold} reports anything after it. */
    private final Object polling = new Object();
    private volatile boolean isFull;
    private volatile boolean isStalled;
    /** Endpoints whose accept is stalled, with the private data of the accept. */
    private final Map<Endpoint, byte[]> stalled = new ConcurrentHashMap<>();

    private HoldingDevice(ProviderDevice inner) { super(inner); }

    static HoldingDevice over(RdmaDevice device) { return new HoldingDevice(device.provider()); }

    RdmaDevice device() { return new RdmaDevice(this); }

    /** Sets whether the creation of endpoints for requests fails, as if the device were full. */
    void full(boolean value) {
        isFull = value;
    }

    /** Sets whether accepted connections remain unestablished. */
    void stall(boolean value) {
        isStalled = value;
        endpoints.forEach(each -> each.channel.wakeup());
    }

    /** Returns the number of accepted connections that remain unestablished. */
    int stalled() {
        return stalled.size();
    }

    private void acceptStalled() throws RdmaException {
        if (!isStalled) {
            for (Endpoint each : stalled.keySet()) {
                each.acceptNow(stalled.remove(each));
            }
        }
    }

    /** Returns the number of RDMA Reads posted so far. */
    int reads() { return reads.get(); }

    /** Stops reporting completions. */
    void hold() {
        synchronized (polling) {
            holding = true;
        }
    }

    /** Reports the delayed completions, and resumes reporting. */
    void letGo() {
        holding = false;
        endpoints.forEach(each -> each.channel.wakeup());
    }

    @Override
    protected ProviderChannel wrap(ProviderChannel channel) { return new Channel(channel); }

    private final class Channel extends ForwardingChannel {
        Channel(ProviderChannel channel) { super(channel); }

        @Override
        public ProviderQueue createQueue(int depth) throws RdmaException {
            return new Queue(super.createQueue(depth));
        }

        @Override
        protected ProviderRequest wrap(ProviderRequest request) {
            return new ForwardingRequest(request) {
                @Override
                public ProviderEndpoint createEndpoint(ProviderChannel on, EndpointSetup setup,
                        ConnectionEvents events) throws RdmaException {
                    if (isFull) {
                        throw new ProviderException("no room for an endpoint", 0);
                    }
                    var acceptor = (Channel) on;
                    return acceptor.wrap(setup, super.createEndpoint(acceptor.delegate(),
                            Queue.inner(setup), events));
                }
            };
        }

        @Override
        public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
                throws RdmaException {
            return wrap(setup, super.createEndpoint(Queue.inner(setup), events));
        }

        private Endpoint wrap(EndpointSetup setup, ProviderEndpoint endpoint) {
            var made = new Endpoint(endpoint, (Queue) setup.sendQueue(), this);
            endpoints.add(made);
            return made;
        }

        @Override
        public void poll() throws RdmaException {
            acceptStalled();
            super.poll();
        }

        @Override
        public void await(long limitMs) throws RdmaException {
            acceptStalled();
            super.await(holding ? 10 : limitMs); // a delayed completion ends no wait
        }
    }

    private final class Queue implements ProviderQueue {
        private final ProviderQueue queue;
        private final List<Endpoint> users = new CopyOnWriteArrayList<>();

        Queue(ProviderQueue queue) { this.queue = queue; }

        private static EndpointSetup inner(EndpointSetup setup) {
            return setup.withQueues(((Queue) setup.sendQueue()).queue,
                    ((Queue) setup.receiveQueue()).queue);
        }

        @Override
        public int poll(RawCompletions into) throws RdmaException {
            synchronized (polling) {
                return holding ? 0 : pollNow(into);
            }
        }

        private int pollNow(RawCompletions into) throws RdmaException {
            int before = into.size();
            int count = queue.poll(into);
            for (int i = before; i < into.size(); i++) {
                long id = into.id(i);
                users.forEach(user -> user.reported(id));
            }
            for (Endpoint user : users) {
                count += user.flush(into);
            }
            return count;
        }

        @Override
        public boolean arm() throws RdmaException { return holding || queue.arm(); }

        @Override
        public void close() { queue.close(); }
    }

    private final class Endpoint extends ForwardingEndpoint {
        private final Queue queue;
        private final ProviderChannel channel;
        /** Operations that have not been reported yet. Guarded by itself. */
        private final Set<Long> posted = new LinkedHashSet<>();
        private volatile boolean isAborted;

        Endpoint(ProviderEndpoint endpoint, Queue queue, ProviderChannel channel) {
            super(endpoint);
            this.queue = queue;
            this.channel = channel;
            queue.users.add(this);
        }

        private void acceptNow(byte[] privateData) throws RdmaException {
            super.accept(privateData);
        }

        private void reported(long id) {
            synchronized (posted) {
                posted.remove(id);
            }
        }

        /** Reports operations as flushed that were posted when the connection ended. */
        private int flush(RawCompletions into) {
            if (!isAborted) {
                return 0;
            }
            synchronized (posted) {
                List<Long> now = new ArrayList<>(posted).subList(0,
                        Math.min(posted.size(), into.room()));
                now.forEach(id -> into.addResult(id, CompletionStatus.FLUSHED, 0));
                now.forEach(posted::remove);
                return now.size();
            }
        }

        @Override
        public void accept(byte[] privateData) throws RdmaException {
            if (isStalled) {
                stalled.put(this, privateData);
            } else {
                super.accept(privateData);
            }
        }

        @Override
        public boolean post(WorkRequest request, long id) throws RdmaException {
            synchronized (posted) {
                posted.add(id);
            }
            boolean done = super.post(request, id);
            if (!done) {
                reported(id);
            } else if (request.operation() == Operation.READ) {
                reads.incrementAndGet();
            }
            return done;
        }

        @Override
        public boolean abort() {
            boolean _ = super.abort();
            isAborted = true;
            return true;
        }

        @Override
        public void close() {
            queue.users.remove(this);
            endpoints.remove(this);
            stalled.remove(this);
            super.close();
        }
    }
}
