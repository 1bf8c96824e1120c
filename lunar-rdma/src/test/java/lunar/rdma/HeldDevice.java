package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.Set;
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
 * Wraps a device and can delay completions, as a slow adapter does: those of operations until {@link #release}, and
 * those that report the operations of a failed connection as flushed. For one thread.
 */
final class HeldDevice implements ProviderDevice {
    private final ProviderDevice device;
    private boolean isHeld;

    HeldDevice(ProviderDevice device) { this.device = device; }

    /** Delays completions from now on. */
    void hold() { isHeld = true; }

    void release() { isHeld = false; }

    @Override
    public DeviceInfo info() { return device.info(); }

    @Override
    public ProviderDomain open() throws RdmaException { return new Domain(device.open()); }

    private final class Domain implements ProviderDomain {
        private final ProviderDomain domain;

        Domain(ProviderDomain domain) { this.domain = domain; }

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

        @Override
        public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
                throws RdmaException {
            return new End(channel.createEndpoint(inner(setup), events), setup);
        }

        @Override
        public void poll() throws RdmaException { channel.poll(); }

        @Override
        public void await(long limitMs) throws RdmaException { channel.await(limitMs); }

        @Override
        public void wakeup() { channel.wakeup(); }

        @Override
        public void close() { channel.close(); }
    }

    private static EndpointSetup inner(EndpointSetup setup) {
        return new EndpointSetup(((Queue) setup.sendQueue()).queue,
                ((Queue) setup.receiveQueue()).queue, setup.shared(), setup.sharedId(),
                setup.sendDepth(), setup.receiveDepth(), setup.segments(), setup.inlineBytes(),
                setup.readDepth(), setup.sendId());
    }

    private final class Request implements ProviderRequest {
        private final ProviderRequest request;

        Request(ProviderRequest request) { this.request = request; }

        @Override
        public InetSocketAddress peer() { return request.peer(); }

        @Override
        public byte[] privateData() { return request.privateData(); }

        @Override
        public ProviderEndpoint createEndpoint(ProviderChannel channel, EndpointSetup setup,
                ConnectionEvents events) throws RdmaException {
            return new End(request.createEndpoint(((Channel) channel).channel, inner(setup),
                    events), setup);
        }

        @Override
        public void reject(byte[] privateData) throws RdmaException { request.reject(privateData); }
    }

    private final class Queue implements ProviderQueue {
        private final ProviderQueue queue;
        private final RawCompletions held = new RawCompletions(16);
        private final Set<Long> posted = new LinkedHashSet<>();
        private int next;

        Queue(ProviderQueue queue) { this.queue = queue; }

        @Override
        public int poll(RawCompletions into) throws RdmaException {
            if (held.room() == 0) {
                held.grow();
            }
            queue.poll(held);
            if (isHeld) {
                return 0;
            }
            int before = into.size();
            while (next < held.size() && into.room() > 0) {
                long id = held.id(next);
                if (posted.remove(id)) {
                    if (held.status(next) == CompletionStatus.SUCCESS) {
                        into.add(id, held.bytes(next));
                    } else {
                        into.addResult(id, held.status(next), held.code(next));
                    }
                }
                next++;
            }
            return into.size() - before;
        }

        /** Reports operations that the wrapped device will not report. */
        void flush() {
            for (long id : posted) {
                if (held.room() == 0) {
                    held.grow();
                }
                held.addResult(id, CompletionStatus.FLUSHED, 0);
            }
        }

        @Override
        public boolean arm() { return false; }

        @Override
        public void close() { queue.close(); }
    }

    private static final class End implements ProviderEndpoint {
        private final ProviderEndpoint endpoint;
        private final Queue sends;
        private final Queue receives;

        End(ProviderEndpoint endpoint, EndpointSetup setup) {
            this.endpoint = endpoint;
            sends = (Queue) setup.sendQueue();
            receives = (Queue) setup.receiveQueue();
        }

        @Override
        public void connect(InetSocketAddress address, byte[] privateData) throws RdmaException {
            endpoint.connect(address, privateData);
        }

        @Override
        public void accept(byte[] privateData) throws RdmaException {
            endpoint.accept(privateData);
        }

        @Override
        public boolean post(WorkRequest request, long id) throws RdmaException {
            boolean isPosted = endpoint.post(request, id);
            if (isPosted) {
                (request.operation() == Operation.RECEIVE ? receives : sends).posted.add(id);
            }
            return isPosted;
        }

        @Override
        public boolean reportsUnsignalled() { return endpoint.reportsUnsignalled(); }

        @Override
        public void disconnect() { endpoint.disconnect(); }

        @Override
        public boolean abort() {
            boolean reports = endpoint.abort();
            if (!reports) {
                sends.flush();
                if (sends != receives) {
                    receives.flush();
                }
            }
            return true;
        }

        @Override
        public void close() { endpoint.close(); }
    }
}
