package lunar.rdma;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
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
import lunar.rdma.spi.RawCompletions;

/** A device without a peer, driven by the test: connects at once, and has shared receive queues. */
final class ScriptedDevice implements ProviderDevice {
    /** Ids of the receives that are posted to shared queues, in order. */
    final Queue<Long> sharedReceives = new ArrayDeque<>();
    /** Endpoints, in the order of creation. */
    final List<End> ends = new ArrayList<>();
    /** Called while an endpoint is being created. */
    Runnable whileCreating = () -> {};
    /** Whether its queues are cheap to poll. */
    boolean isCheap;
    /** How often a queue has been armed. */
    int arms;
    /** Completions that are not polled yet. */
    private final Queue<Consumer<RawCompletions>> completions = new ArrayDeque<>();

    @Override
    public DeviceInfo info() {
        return new DeviceInfo("scripted", "device of tests",
                List.of(InetAddress.getLoopbackAddress()),
                Set.of(Capability.SHARED_RECEIVE_QUEUE),
                new DeviceLimits(1 << 20, 0, 4, 64, 64, 1024, 64, 64, 64));
    }

    @Override
    public ProviderDomain open() { return new Domain(); }

    /** Completes the oldest shared receive with a message for an endpoint. */
    void receive(End taker, int bytes) {
        long id = sharedReceives.remove();
        completions.add(into -> into.addShared(id, taker.setup.sharedId(),
                CompletionStatus.SUCCESS, bytes, 0, 0));
    }

    private final class Domain implements ProviderDomain {
        @Override
        public ProviderRegion register(MemorySegment memory, Set<Access> access) {
            return new ProviderRegion() {
                @Override
                public long localKey() { return 1; }

                @Override
                public int remoteKey() { return 1; }

                @Override
                public long remoteAddress() { return memory.address(); }

                @Override
                public void close() {}
            };
        }

        @Override
        public ProviderChannel openChannel() { return new Channel(); }

        @Override
        public ProviderReceiveQueue createReceiveQueue(int depth, int segments) {
            return new ProviderReceiveQueue() {
                @Override
                public boolean post(WorkRequest request, long id) { return sharedReceives.add(id); }

                @Override
                public void close() {}
            };
        }

        @Override
        public void close() {}
    }

    private final class Channel implements ProviderChannel {
        @Override
        public ProviderQueue createQueue(int depth) {
            return new ProviderQueue() {
                @Override
                public int poll(RawCompletions into) {
                    int before = into.size();
                    while (into.room() > 0 && !completions.isEmpty()) {
                        completions.remove().accept(into);
                    }
                    return into.size() - before;
                }

                @Override
                public boolean isCheapToPoll() { return isCheap; }

                @Override
                public boolean arm() {
                    arms++;
                    return true;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public ProviderListener listen(InetSocketAddress address, int backlog,
                ListenerEvents events) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events) {
            whileCreating.run();
            var end = new End(setup, events);
            ends.add(end);
            return end;
        }

        @Override
        public void poll() {}

        @Override
        public void await(long limitMs) {}

        @Override
        public void wakeup() {}

        @Override
        public void close() {}
    }

    /** An endpoint of the device. */
    final class End implements ProviderEndpoint {
        private final EndpointSetup setup;
        private final ConnectionEvents events;
        /** Called while the close of the endpoint awaits its last shared receive. */
        Runnable beforeLastReceive = () -> {};
        /** Called while the endpoint connects. */
        Runnable whileConnecting = () -> {};
        /** Called when the endpoint is to end its operations. */
        Runnable whileAborting = () -> {};
        /** Called while the endpoint is being closed. */
        Runnable whileClosing = () -> {};

        End(EndpointSetup setup, ConnectionEvents events) {
            this.setup = setup;
            this.events = events;
        }

        @Override
        public void connect(InetSocketAddress address, byte[] privateData) {
            whileConnecting.run();
            events.established(new byte[0]);
        }

        @Override
        public void accept(byte[] privateData) { throw new UnsupportedOperationException(); }

        @Override
        public boolean post(WorkRequest request, long id) { return true; }

        @Override
        public boolean reportsUnsignalled() { return false; }

        @Override
        public void disconnect() {}

        @Override
        public boolean abort() {
            whileAborting.run();
            return true;
        }

        @Override
        public void awaitLastReceive() { beforeLastReceive.run(); }

        @Override
        public void close() { whileClosing.run(); }
    }
}
