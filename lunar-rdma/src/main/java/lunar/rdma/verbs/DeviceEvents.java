package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.rdma.ProviderException;

/**
 * Asynchronous events of a device (ibv_get_async_event(3)): what happens to queue pairs, queues, ports and the device
 * itself without a completion. All domains of a device share its context; any channel reads the events, for all.
 */
final class DeviceEvents {
    /** Handles events of a queue pair. */
    interface Owner {
        /**
         * Called by any thread, not to block.
         *
         * @param type an {@code IBV_EVENT} constant
         */
        void deviceEvent(int type);

        /** Whether work of the owner is reported to, or taken from, a completion queue or shared receive queue. */
        boolean uses(long queue);
    }

    /** Where events come from. */
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
    /** Where the library puts an event. Guarded by this. */
    private final MemorySegment event = Arena.ofAuto().allocate(ObjectLayouts.ASYNC_EVENT);

    /**
     * @param descriptor can be read when there are events
     */
    DeviceEvents(Source source, int descriptor) {
        this.source = source;
        this.descriptor = descriptor;
    }

    /**
     * Makes the reader of a device's events.
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

    /** Can be read when there are events. */
    int descriptor() { return descriptor; }

    void put(long queuePair, Owner owner) { owners.put(queuePair, owner); }

    /** Events of the queue pair are not handled any more; the queue pair is destroyed afterwards. */
    void remove(long queuePair) {
        owners.remove(queuePair);
    }

    /** Handles the events that are there. An event is acknowledged last: until then its object is not destroyed. */
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
            default -> LOG.log(System.Logger.Level.DEBUG, "event {0} of an RDMA device", type);
        }
    }
}
