package lunar.iser;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import lunar.rdma.Access;
import lunar.rdma.CompletionStatus;
import lunar.rdma.DeviceInfo;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderListener;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.ProviderReceiveQueue;
import lunar.rdma.spi.ProviderRegion;
import lunar.rdma.spi.ProviderRequest;
import lunar.rdma.spi.RawCompletions;

/**
 * Wraps a device and can delay completions, as a slow adapter does: those of operations, and those that report flushed
 * operations after the end of a connection.
 */
final class HoldingDevice implements ProviderDevice {
    private final ProviderDevice inner;
    private final List<Endpoint> endpoints = new CopyOnWriteArrayList<>();
    private volatile boolean holding;
    private volatile boolean isFull;
    private volatile boolean isStalled;
    /** Endpoints whose accept is stalled, with the private data of the accept. */
    private final Map<Endpoint, byte[]> stalled = new ConcurrentHashMap<>();

    private HoldingDevice(ProviderDevice inner) { this.inner = inner; }

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
                each.endpoint.accept(stalled.remove(each));
            }
        }
    }

    /** Stops reporting completions. */
    void hold() { holding = true; }

    /** Reports the delayed completions, and resumes reporting. */
    void letGo() {
        holding = false;
        endpoints.forEach(each -> each.channel.wakeup());
    }

    @Override
    public DeviceInfo info() { return inner.info(); }

    @Override
    public ProviderDomain open() throws RdmaException {
        ProviderDomain domain = inner.open();
        return new ProviderDomain() {
            @Override
            public ProviderRegion register(MemorySegment memory, Set<Access> access)
                    throws RdmaException {
                return domain.register(memory, access);
            }

            @Override
            public ProviderChannel openChannel() throws RdmaException {
                return new Channel(domain.openChannel());
            }

            @Override
            public ProviderReceiveQueue createReceiveQueue(int depth, int segments)
                    throws RdmaException {
                return domain.createReceiveQueue(depth, segments);
            }

            @Override
            public void close() { domain.close(); }
        };
    }

    private final class Channel implements ProviderChannel {
        private final ProviderChannel channel;

        Channel(ProviderChannel channel) { this.channel = channel; }

        @Override
        public ProviderQueue createQueue(int depth) throws RdmaException {
            return new Queue(channel.createQueue(depth));
        }

        @Override
        public ProviderListener listen(InetSocketAddress address, int backlog,
                ListenerEvents events) throws RdmaException {
            return channel.listen(address, backlog, new ListenerEvents() {
                @Override
                public void requested(ProviderRequest request) {
                    events.requested(new Request(request));
                }

                @Override
                public void failed(RdmaException cause) { events.failed(cause); }
            });
        }

        private final class Request implements ProviderRequest {
            private final ProviderRequest request;

            Request(ProviderRequest request) { this.request = request; }

            @Override
            public InetSocketAddress peer() { return request.peer(); }

            @Override
            public byte[] privateData() { return request.privateData(); }

            @Override
            public ProviderEndpoint createEndpoint(ProviderChannel on, EndpointSetup setup,
                    ConnectionEvents events) throws RdmaException {
                if (isFull) {
                    throw new ProviderException("no room for an endpoint", 0);
                }
                var acceptor = (Channel) on;
                return acceptor.wrap(setup,
                        request.createEndpoint(acceptor.channel, unwrap(setup), events));
            }

            @Override
            public void reject(byte[] privateData) throws RdmaException {
                request.reject(privateData);
            }
        }

        @Override
        public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
                throws RdmaException {
            return wrap(setup, channel.createEndpoint(unwrap(setup), events));
        }

        private static EndpointSetup unwrap(EndpointSetup setup) {
            return new EndpointSetup(((Queue) setup.sendQueue()).queue,
                    ((Queue) setup.receiveQueue()).queue, setup.shared(), setup.sharedId(),
                    setup.sendDepth(), setup.receiveDepth(), setup.segments(),
                    setup.inlineBytes(), setup.readDepth(), setup.sendId());
        }

        private Endpoint wrap(EndpointSetup setup, ProviderEndpoint endpoint) {
            var made = new Endpoint(endpoint, (Queue) setup.sendQueue(), this);
            endpoints.add(made);
            return made;
        }

        @Override
        public void poll() throws RdmaException {
            acceptStalled();
            channel.poll();
        }

        @Override
        public void await(long limitMs) throws RdmaException {
            acceptStalled();
            channel.await(holding ? 10 : limitMs); // a delayed completion ends no wait
        }

        @Override
        public void wakeup() { channel.wakeup(); }

        @Override
        public void close() { channel.close(); }
    }

    private final class Queue implements ProviderQueue {
        private final ProviderQueue queue;
        private final List<Endpoint> users = new CopyOnWriteArrayList<>();

        Queue(ProviderQueue queue) { this.queue = queue; }

        @Override
        public int poll(RawCompletions into) throws RdmaException {
            if (holding) {
                return 0;
            }
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

    private final class Endpoint implements ProviderEndpoint {
        private final ProviderEndpoint endpoint;
        private final Queue queue;
        private final ProviderChannel channel;
        /** Operations that have not been reported yet. Guarded by itself. */
        private final Set<Long> posted = new LinkedHashSet<>();
        private volatile boolean isAborted;

        Endpoint(ProviderEndpoint endpoint, Queue queue, ProviderChannel channel) {
            this.endpoint = endpoint;
            this.queue = queue;
            this.channel = channel;
            queue.users.add(this);
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
        public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
            endpoint.connect(address, privateData);
        }

        @Override
        public void accept(byte[] privateData) throws RdmaException {
            if (isStalled) {
                stalled.put(this, privateData);
            } else {
                endpoint.accept(privateData);
            }
        }

        @Override
        public boolean post(WorkRequest request, long id) throws RdmaException {
            synchronized (posted) {
                posted.add(id);
            }
            boolean done = endpoint.post(request, id);
            if (!done) {
                reported(id);
            }
            return done;
        }

        @Override
        public boolean reportsUnsignalled() { return endpoint.reportsUnsignalled(); }

        @Override
        public void disconnect() { endpoint.disconnect(); }

        @Override
        public boolean abort() {
            boolean _ = endpoint.abort();
            isAborted = true;
            return true;
        }

        @Override
        public void close() {
            queue.users.remove(this);
            endpoints.remove(this);
            stalled.remove(this);
            endpoint.close();
        }
    }
}
