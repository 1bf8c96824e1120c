package lunar.rdma.verbs;

import lunar.rdma.ProviderException;

/** Functions of libibverbs off the data path. Pointers are passed as addresses. */
final class VerbsCalls {
    private final NativeFunction deviceList;
    private final NativeFunction freeDeviceList;
    private final NativeFunction queryDevice;
    private final NativeFunction queryPort;
    private final NativeFunction allocateDomain;
    private final NativeFunction freeDomain;
    private final NativeFunction register;
    private final NativeFunction deregister;
    private final NativeFunction createChannel;
    private final NativeFunction destroyChannel;
    private final NativeFunction createQueue;
    private final NativeFunction destroyQueue;
    private final NativeFunction nextQueueEvent;
    private final NativeFunction acknowledge;
    private final NativeFunction createSharedReceives;
    private final NativeFunction destroySharedReceives;
    private final NativeFunction createQueuePair;
    private final NativeFunction destroyQueuePair;
    private final NativeFunction modify;
    private final NativeFunction nextDeviceEvent;
    private final NativeFunction acknowledgeDeviceEvent;

    VerbsCalls(NativeLibrary library) {
        deviceList = library.function("ibv_get_device_list");
        freeDeviceList = library.function("ibv_free_device_list");
        queryDevice = library.function("ibv_query_device");
        queryPort = library.function("ibv_query_port");
        allocateDomain = library.function("ibv_alloc_pd");
        freeDomain = library.function("ibv_dealloc_pd");
        register = library.function("ibv_reg_mr");
        deregister = library.function("ibv_dereg_mr");
        createChannel = library.function("ibv_create_comp_channel");
        destroyChannel = library.function("ibv_destroy_comp_channel");
        createQueue = library.function("ibv_create_cq");
        destroyQueue = library.function("ibv_destroy_cq");
        nextQueueEvent = library.function("ibv_get_cq_event");
        acknowledge = library.function("ibv_ack_cq_events");
        createSharedReceives = library.function("ibv_create_srq");
        destroySharedReceives = library.function("ibv_destroy_srq");
        createQueuePair = library.function("ibv_create_qp");
        destroyQueuePair = library.function("ibv_destroy_qp");
        modify = library.function("ibv_modify_qp");
        nextDeviceEvent = library.function("ibv_get_async_event");
        acknowledgeDeviceEvent = library.function("ibv_ack_async_event");
    }

    /** ibv_get_device_list: returns an array of devices and stores its length. */
    long deviceList(long count) throws ProviderException {
        return deviceList.pointer(count);
    }

    /** ibv_free_device_list: frees the array. */
    void freeDeviceList(long list) {
        freeDeviceList.run(list);
    }

    /** ibv_query_device: fills struct ibv_device_attr. */
    void queryDevice(long context, long attributes) throws ProviderException {
        queryDevice.check(context, attributes);
    }

    /** ibv_query_port: fills struct ibv_port_attr up to link_layer. */
    void queryPort(long context, int port, long attributes) throws ProviderException {
        queryPort.check(context, port, attributes);
    }

    /** ibv_alloc_pd: allocates a protection domain. */
    long allocateDomain(long context) throws ProviderException {
        return allocateDomain.pointer(context);
    }

    /** ibv_dealloc_pd: frees a protection domain that nothing uses any more. */
    void freeDomain(long domain) throws ProviderException {
        freeDomain.check(domain);
    }

    /** ibv_reg_mr: registers memory and returns a struct ibv_mr. */
    long register(long domain, long address, long bytes, int access) throws ProviderException {
        return register.pointer(domain, address, bytes, access);
    }

    /** ibv_dereg_mr: ends a registration. */
    void deregister(long memory) throws ProviderException {
        deregister.check(memory);
    }

    /** ibv_create_comp_channel: creates a completion channel. */
    long createChannel(long context) throws ProviderException {
        return createChannel.pointer(context);
    }

    /** ibv_destroy_comp_channel: destroys a completion channel that no completion queue uses any more. */
    void destroyChannel(long channel) throws ProviderException {
        destroyChannel.check(channel);
    }

    /** ibv_create_cq: creates a completion queue. */
    long createQueue(long context, int entries, long userContext, long channel, int vector)
            throws ProviderException {
        return createQueue.pointer(context, entries, userContext, channel, vector);
    }

    /** ibv_destroy_cq: destroys a completion queue; waits until its events are acknowledged. */
    void destroyQueue(long queue) throws ProviderException {
        destroyQueue.check(queue);
    }

    /** ibv_get_cq_event: takes an event from a channel, if there is one. */
    boolean nextQueueEvent(long channel, long queue, long userContext) throws ProviderException {
        return nextQueueEvent.ready(channel, queue, userContext);
    }

    /** ibv_ack_cq_events: acknowledges events. It takes a lock, so once for many. */
    void acknowledge(long queue, int events) {
        acknowledge.run(queue, events);
    }

    /** ibv_create_srq: creates a shared receive queue from struct ibv_srq_init_attr. */
    long createSharedReceives(long domain, long attributes) throws ProviderException {
        return createSharedReceives.pointer(domain, attributes);
    }

    /** ibv_destroy_srq: destroys a shared receive queue that no queue pair uses any more. */
    void destroySharedReceives(long queue) throws ProviderException {
        destroySharedReceives.check(queue);
    }

    /** ibv_create_qp: creates a queue pair without a connection from struct ibv_qp_init_attr. */
    long createQueuePair(long domain, long attributes) throws ProviderException {
        return createQueuePair.pointer(domain, attributes);
    }

    /** ibv_destroy_qp: destroys a queue pair. */
    void destroyQueuePair(long queuePair) throws ProviderException {
        destroyQueuePair.check(queuePair);
    }

    /** ibv_modify_qp: changes a queue pair by struct ibv_qp_attr. */
    void modify(long queuePair, long attributes, int mask) throws ProviderException {
        modify.check(queuePair, attributes, mask);
    }

    /** ibv_get_async_event: takes an event of a device, if there is one, and stores a struct ibv_async_event. */
    boolean nextDeviceEvent(long context, long event) throws ProviderException {
        return nextDeviceEvent.ready(context, event);
    }

    /** ibv_ack_async_event: acknowledges an event; objects whose events are not acknowledged cannot be destroyed. */
    void acknowledgeDeviceEvent(long event) {
        acknowledgeDeviceEvent.run(event);
    }
}
