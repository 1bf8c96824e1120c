package lunar.rdma.verbs;

import lunar.rdma.ProviderException;

/** Functions of librdmacm, the connection manager. Pointers are passed as addresses. */
final class CmCalls {
    private final NativeFunction devices;
    private final NativeFunction freeDevices;
    private final NativeFunction createChannel;
    private final NativeFunction destroyChannel;
    private final NativeFunction createId;
    private final NativeFunction destroyId;
    private final NativeFunction migrate;
    private final NativeFunction bind;
    private final NativeFunction listen;
    private final NativeFunction resolveAddress;
    private final NativeFunction resolveRoute;
    private final NativeFunction createQueuePair;
    private final NativeFunction destroyQueuePair;
    private final NativeFunction connect;
    private final NativeFunction accept;
    private final NativeFunction reject;
    private final NativeFunction disconnect;
    private final NativeFunction nextEvent;
    private final NativeFunction acknowledge;
    private final NativeFunction notify;

    CmCalls(NativeLibrary library) {
        devices = library.function("rdma_get_devices");
        freeDevices = library.function("rdma_free_devices");
        createChannel = library.function("rdma_create_event_channel");
        destroyChannel = library.function("rdma_destroy_event_channel");
        createId = library.function("rdma_create_id");
        destroyId = library.function("rdma_destroy_id");
        migrate = library.function("rdma_migrate_id");
        bind = library.function("rdma_bind_addr");
        listen = library.function("rdma_listen");
        resolveAddress = library.function("rdma_resolve_addr");
        resolveRoute = library.function("rdma_resolve_route");
        createQueuePair = library.function("rdma_create_qp");
        destroyQueuePair = library.function("rdma_destroy_qp");
        connect = library.function("rdma_connect");
        accept = library.function("rdma_accept");
        reject = library.function("rdma_reject");
        disconnect = library.function("rdma_disconnect");
        nextEvent = library.function("rdma_get_cm_event");
        acknowledge = library.function("rdma_ack_cm_event");
        notify = library.function("rdma_notify");
    }

    /** rdma_get_devices: returns the contexts of all devices, which live as long as the process. */
    long devices(long count) throws ProviderException {
        return devices.pointer(count);
    }

    /** rdma_free_devices: frees the array, not the contexts. */
    void freeDevices(long devices) {
        freeDevices.run(devices);
    }

    /** rdma_create_event_channel: creates an event channel. */
    long createChannel() throws ProviderException {
        return createChannel.pointer();
    }

    /** rdma_destroy_event_channel: destroys an event channel that no id uses any more. */
    void destroyChannel(long channel) {
        destroyChannel.run(channel);
    }

    /** rdma_create_id: creates an id and stores its address. */
    void createId(long channel, long id, long userContext, int portSpace) throws ProviderException {
        int _ = createId.value(channel, id, userContext, portSpace);
    }

    /** rdma_destroy_id: destroys an id; waits until its events are acknowledged. */
    void destroyId(long id) throws ProviderException {
        int _ = destroyId.value(id);
    }

    /** rdma_migrate_id: moves an id to another channel; waits until its events are acknowledged. */
    void migrate(long id, long channel) throws ProviderException {
        int _ = migrate.value(id, channel);
    }

    /** rdma_bind_addr: binds an id to an address, and unless that is a wildcard, to its device. */
    void bind(long id, long address) throws ProviderException {
        int _ = bind.value(id, address);
    }

    /** rdma_listen: listens for connection requests. */
    void listen(long id, int backlog) throws ProviderException {
        int _ = listen.value(id, backlog);
    }

    /** rdma_resolve_addr: starts the search for the device that leads to an address. */
    void resolveAddress(long id, long source, long destination, int timeoutMs)
            throws ProviderException {
        int _ = resolveAddress.value(id, source, destination, timeoutMs);
    }

    /** rdma_resolve_route: starts the search for a route. */
    void resolveRoute(long id, int timeoutMs) throws ProviderException {
        int _ = resolveRoute.value(id, timeoutMs);
    }

    /** rdma_create_qp: creates the id's queue pair from struct ibv_qp_init_attr, which receives the limits granted. */
    void createQueuePair(long id, long domain, long attributes) throws ProviderException {
        int _ = createQueuePair.value(id, domain, attributes);
    }

    /** rdma_destroy_qp: destroys the id's queue pair. */
    void destroyQueuePair(long id) {
        destroyQueuePair.run(id);
    }

    /** rdma_connect: sends a connection request. */
    void connect(long id, long parameters) throws ProviderException {
        int _ = connect.value(id, parameters);
    }

    /** rdma_accept: accepts a connection request. */
    void accept(long id, long parameters) throws ProviderException {
        int _ = accept.value(id, parameters);
    }

    /** rdma_reject: rejects a connection request. */
    void reject(long id, long privateData, int bytes) throws ProviderException {
        int _ = reject.value(id, privateData, bytes);
    }

    /** rdma_disconnect: moves the queue pair to the error state and notifies the peer. */
    void disconnect(long id) throws ProviderException {
        int _ = disconnect.value(id);
    }

    /** rdma_get_cm_event: takes an event from a channel, if there is one, and stores its address. */
    boolean nextEvent(long channel, long event) throws ProviderException {
        return nextEvent.ready(channel, event);
    }

    /** rdma_ack_cm_event: acknowledges an event, which frees it. */
    void acknowledge(long event) throws ProviderException {
        int _ = acknowledge.value(event);
    }

    /** rdma_notify: tells the connection manager of an event of an id's queue pair. */
    void notify(long id, int event) throws ProviderException {
        int _ = notify.value(id, event);
    }
}
