package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.rdma.ProviderException;

/**
 * Dispatches asynchronous events of a device (ibv_get_async_event(3)), which concern queue pairs, queues, ports and the
 * device itself. All domains of a device share its context, so any channel reads the events for all of them.
 */
final class DeviceEvents {
    /** Handles events of a queue pair. */
    interface Owner {
        /**
         * Handles an event. Called by any thread; must not block.
         *
         * @param type an {@code IBV_EVENT} constant
         */
        void deviceEvent(int type);

        /** Whether the owner uses a completion queue or shared receive queue. */
        boolean uses(long queue);
    }

    /** Source of events. */
    interface Source {
        /** Takes an event, if there is one, into a struct ibv_async_event. */
        boolean next(long event) throws ProviderException;

        void acknowledge(long event);
    }

    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    private final Source source;
    private final int descriptor;
    /** Owners by the addresses of their queue pairs. */
    private final Map<Long, Owner> owners = new ConcurrentHashMap<>();
    /** Memory for an event. Guarded by this. */
    private final MemorySegment event = Arena.ofAuto().allocate(ObjectLayouts.ASYNC_EVENT);

    /**
     * @param descriptor file descriptor that is readable when there are events
     */
    DeviceEvents(Source source, int descriptor) {
        this.source = source;
        this.descriptor = descriptor;
    }

    /**
     * Creates the dispatcher of a device's events.
     *
     * @param context address of the struct ibv_context of the device
     */
    static DeviceEvents of(VerbsCalls verbs, long context) throws ProviderException {
        int descriptor = NativeLibrary.at(context, ObjectLayouts.CONTEXT.byteSize()).get(JAVA_INT,
                ObjectLayouts.CONTEXT_ASYNC_FD);
        Descriptors.setNonBlocking(descriptor);
        return new DeviceEvents(new Source() {
            @Override
            public boolean next(long event) throws ProviderException {
                return verbs.nextDeviceEvent(context, event);
            }

            @Override
            public void acknowledge(long event) { verbs.acknowledgeDeviceEvent(event); }
        }, descriptor);
    }

    /** Returns the file descriptor that is readable when there are events. */
    int descriptor() {
        return descriptor;
    }

    void put(long queuePair, Owner owner) { owners.put(queuePair, owner); }

    /** Ends the dispatch of events of a queue pair, which is destroyed afterwards. */
    void remove(long queuePair) {
        owners.remove(queuePair);
    }

    /** Handles pending events. An event is acknowledged last: until then its object cannot be destroyed. */
    synchronized void read() throws ProviderException {
        while (source.next(event.address())) {
            try {
                handle(event.get(JAVA_INT, ObjectLayouts.ASYNC_EVENT_TYPE),
                        event.get(JAVA_LONG, ObjectLayouts.ASYNC_EVENT_ELEMENT));
            } finally {
                source.acknowledge(event.address());
            }
        }
    }

    /**
     * @param element address of the object that the event is about, or number of a port
     */
    private void handle(int type, long element) {
        switch (type) {
            case Constants.IBV_EVENT_QP_FATAL, Constants.IBV_EVENT_QP_REQ_ERR,
                    Constants.IBV_EVENT_QP_ACCESS_ERR, Constants.IBV_EVENT_COMM_EST,
                    Constants.IBV_EVENT_QP_LAST_WQE_REACHED -> {
                Owner owner = owners.get(element);
                if (owner != null) {
                    owner.deviceEvent(type);
                }
            }
            case Constants.IBV_EVENT_CQ_ERR, Constants.IBV_EVENT_SRQ_ERR -> owners.values().stream()
                    .filter(owner -> owner.uses(element))
                    .forEach(owner -> owner.deviceEvent(type));
            case Constants.IBV_EVENT_DEVICE_FATAL -> {
                LOG.log(System.Logger.Level.ERROR,
                        "RDMA device has failed: all its connections end");
                owners.values().forEach(owner -> owner.deviceEvent(type));
            }
            case Constants.IBV_EVENT_PORT_ACTIVE -> LOG.log(System.Logger.Level.INFO,
                    "port {0} of an RDMA device is up", (int) element);
            case Constants.IBV_EVENT_PORT_ERR -> LOG.log(System.Logger.Level.WARNING,
                    "port {0} of an RDMA device is down", (int) element);
            default ->
                LOG.log(System.Logger.Level.DEBUG, "ignored event {0} of an RDMA device", type);
        }
    }
}
