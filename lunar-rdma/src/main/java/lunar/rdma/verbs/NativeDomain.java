package lunar.rdma.verbs;

import lunar.rdma.ProviderException;

/**
 * A native protection domain (struct ibv_pd) with the libraries, the device, and the device's limits and data path
 * functions, all of which its objects use.
 */
final class NativeDomain {
    private final VerbsLibraries libraries;
    private final long context;
    private final String deviceName;
    private final DataPath dataPath;
    private final ReadDepth reads;
    private final DeviceEvents events;
    private final long address;

    /**
     * @param context address of the struct ibv_context of the device
     */
    NativeDomain(VerbsLibraries libraries, long context, String deviceName)
            throws ProviderException {
        this.libraries = libraries;
        this.context = context;
        this.deviceName = deviceName;
        dataPath = new DataPath(context);
        reads = ReadDepth.ofDevice(libraries.verbs(), context);
        events = libraries.eventsOf(context);
        address = libraries.verbs().allocateDomain(context);
    }

    VerbsCalls verbs() { return libraries.verbs(); }

    CmCalls cm() { return libraries.cm(); }

    DataPath dataPath() { return dataPath; }

    /** Address of the struct ibv_pd. */
    long address() { return address; }

    /** Address of the struct ibv_context of the device. */
    long context() { return context; }

    /** Limits of the device. */
    ReadDepth reads() { return reads; }

    /** Events of the device. */
    DeviceEvents events() { return events; }

    String deviceName() { return deviceName; }

    /** Frees the domain; all its objects must have been freed. */
    void free() {
        Closing.quietly(() -> verbs().freeDomain(address));
    }
}
