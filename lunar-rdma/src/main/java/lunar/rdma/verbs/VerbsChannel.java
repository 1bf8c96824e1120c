package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.posix.WaitSet;
import lunar.rdma.spi.ConnectionEvents;
import lunar.rdma.spi.EndpointSetup;
import lunar.rdma.spi.ListenerEvents;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderEndpoint;
import lunar.rdma.spi.ProviderListener;
import lunar.rdma.spi.ProviderQueue;

/** An event channel of librdmacm, a completion channel of libibverbs, and a wait for both and for device events. */
final class VerbsChannel implements ProviderChannel {
    /** Interval of checks for connection events, each of which is a system call, by a polling loop. */
    private static final long LOOK_NANOS = 20_000;

    private final NativeDomain domain;
    private final CmCalls cm;
    private final long connections;
    private final long completions;
    private final WaitSet waits;
    /** Handlers of the events of an id, by the address of the id. */
    private final Map<Long, IdOwner> owners = new ConcurrentHashMap<>();
    /** Reports of {@link DeviceEvents} that the channel's thread is to handle. */
    private final Queue<Runnable> reports = new ConcurrentLinkedQueue<>();
    /** Memory for an address that a call returns; for the channel's thread. */
    private final MemorySegment result = Arena.ofAuto().allocate(ADDRESS, 2);

    private long lookedNanos = System.nanoTime() - LOOK_NANOS;
    /** Whether there has been a wait since the last check for connection events. */
    private boolean hasWaited;

    private VerbsChannel(NativeDomain domain, long connections, long completions)
            throws RdmaException {
        this.domain = domain;
        this.connections = connections;
        this.completions = completions;
        cm = domain.cm();
        int connectionEvents = CmLayouts.channelDescriptor(connections);
        int completionEvents = ObjectLayouts.channelDescriptor(completions);
        Descriptors.setNonBlocking(connectionEvents);
        Descriptors.setNonBlocking(completionEvents);
        waits = new WaitSet();
        waits.add(connectionEvents);
        waits.add(completionEvents);
        waits.add(domain.events().descriptor());
    }

    static VerbsChannel open(NativeDomain domain) throws RdmaException {
        long connections = domain.cm().createChannel();
        long completions = 0;
        try {
            completions = domain.verbs().createChannel(domain.context());
            return new VerbsChannel(domain, connections, completions);
        } catch (RdmaException e) {
            if (completions != 0) {
                domain.verbs().destroyChannel(completions);
            }
            domain.cm().destroyChannel(connections);
            throw e;
        }
    }

    NativeDomain domain() { return domain; }

    /** Address of the event channel of librdmacm. */
    long connections() { return connections; }

    void put(long id, IdOwner owner) { owners.put(id, owner); }

    /** Removes the handler of an id's events. */
    void remove(long id) { owners.remove(id); }

    /** Lets the channel's thread handle a report soon. Any thread. */
    void later(Runnable report) {
        reports.add(report);
        waits.wakeup();
    }

    @Override
    public ProviderQueue createQueue(int depth) throws ProviderException {
        long queue = domain.verbs().createQueue(domain.context(), depth, 0, completions, 0);
        return new VerbsQueue(this, domain.dataPath(), queue);
    }

    /** Destroys a queue, whose events must be acknowledged before. */
    void destroy(long queue) {
        Closing.quietly(() -> {
            acknowledgeCompletions();
            domain.verbs().destroyQueue(queue);
        });
    }

    @Override
    public ProviderListener listen(InetSocketAddress address, int backlog, ListenerEvents events)
            throws RdmaException {
        return VerbsListener.listen(this, connections, address, backlog, events);
    }

    @Override
    public ProviderEndpoint createEndpoint(EndpointSetup setup, ConnectionEvents events)
            throws ProviderException {
        return new VerbsEndpoint(this, CmId.create(cm, connections), setup, events,
                domain.reads().atMost(setup.readDepth(), setup.readDepth()));
    }

    @Override
    public void poll() throws ProviderException {
        long now = System.nanoTime();
        if (!hasWaited && now - lookedNanos < LOOK_NANOS) {
            return;
        }
        hasWaited = false;
        lookedNanos = now;
        domain.events().read();
        for (Runnable report; (report = reports.poll()) != null;) {
            report.run();
        }
        while (cm.nextEvent(connections, result.address())) {
            long event = result.get(JAVA_LONG, 0);
            var copy = new CmEvent(event);
            cm.acknowledge(event);
            IdOwner owner = owners.get(copy.owner());
            if (owner != null) {
                owner.handle(copy);
            } else if (copy.type() == Constants.RDMA_CM_EVENT_CONNECT_REQUEST) {
                Closing.quietly(() -> cm.destroyId(copy.id())); // its listener has been closed
            }
        }
    }

    @Override
    public void await(long limitMs) throws ProviderException {
        hasWaited = true;
        waits.await(limitMs);
        acknowledgeCompletions();
    }

    /** Takes and acknowledges the events that report completions in armed queues. */
    private void acknowledgeCompletions() throws ProviderException {
        while (domain.verbs().nextQueueEvent(completions, result.address(),
                result.address() + ADDRESS.byteSize())) {
            domain.verbs().acknowledge(result.get(JAVA_LONG, 0), 1);
        }
    }

    @Override
    public void wakeup() { waits.wakeup(); }

    @Override
    public void close() {
        waits.close();
        Closing.quietly(() -> domain.verbs().destroyChannel(completions));
        cm.destroyChannel(connections);
    }
}
