package lunar.rdma;

import java.util.LinkedHashSet;
import java.util.Set;
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
 * Wraps a device and can delay completions, as a slow adapter does: those of operations until {@link #release}, and
 * those that report the operations of a failed connection as flushed. For one thread.
 */
final class HeldDevice extends ForwardingDevice {
    private boolean isHeld;

    HeldDevice(ProviderDevice device) { super(device); }

    /** Delays completions from now on. */
    void hold() { isHeld = true; }

    void release() { isHeld = false; }

    @Override
    protected ProviderChannel wrap(ProviderChannel channel) { return new Channel(channel); }

    private final class Channel extends ForwardingChannel {
        Channel(ProviderChannel channel) { super(channel); }

        @Override
        public ProviderQueue createQueue(int depth) throws RdmaException {
            return new Queue(super.createQueue(depth));
        }

        @Override
        public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
                throws RdmaException {
            return new End(super.createEndpoint(Queue.inner(setup), events), setup);
        }

        @Override
        protected ProviderRequest wrap(ProviderRequest request) {
            return new ForwardingRequest(request) {
                @Override
                public ProviderEndpoint createEndpoint(ProviderChannel on, EndpointSetup setup,
                        ConnectionEvents events) throws RdmaException {
                    return new End(super.createEndpoint(((Channel) on).delegate(),
                            Queue.inner(setup), events), setup);
                }
            };
        }
    }

    private final class Queue implements ProviderQueue {
        private final ProviderQueue queue;
        private final RawCompletions held = new RawCompletions(16);
        private final Set<Long> posted = new LinkedHashSet<>();
        private int next;

        Queue(ProviderQueue queue) { this.queue = queue; }

        private static EndpointSetup inner(EndpointSetup setup) {
            return setup.withQueues(((Queue) setup.sendQueue()).queue,
                    ((Queue) setup.receiveQueue()).queue);
        }

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

    private static final class End extends ForwardingEndpoint {
        private final Queue sends;
        private final Queue receives;

        End(ProviderEndpoint endpoint, EndpointSetup setup) {
            super(endpoint);
            sends = (Queue) setup.sendQueue();
            receives = (Queue) setup.receiveQueue();
        }

        @Override
        public boolean post(WorkRequest request, long id) throws RdmaException {
            boolean isPosted = super.post(request, id);
            if (isPosted) {
                (request.operation() == Operation.RECEIVE ? receives : sends).posted.add(id);
            }
            return isPosted;
        }

        @Override
        public boolean abort() {
            boolean reports = super.abort();
            if (!reports) {
                sends.flush();
                if (sends != receives) {
                    receives.flush();
                }
            }
            return true;
        }
    }
}
