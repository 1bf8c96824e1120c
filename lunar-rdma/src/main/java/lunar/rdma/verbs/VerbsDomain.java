package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.Access;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.RegistrationException;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderReceiveQueue;
import lunar.rdma.spi.ProviderRegion;

/** A protection domain (struct ibv_pd). */
final class VerbsDomain implements ProviderDomain {
    private final VerbsLibraries libraries;
    private final long context;
    private final String deviceName;
    private final DataPath dataPath;
    private final ReadDepth reads;
    private final long address;

    VerbsDomain(VerbsLibraries libraries, long context, String deviceName)
            throws ProviderException {
        this.libraries = libraries;
        this.context = context;
        this.deviceName = deviceName;
        dataPath = new DataPath(context);
        reads = ReadDepth.ofDevice(libraries.verbs(), context);
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

    String deviceName() { return deviceName; }

    @Override
    public ProviderRegion register(MemorySegment memory, Set<Access> access)
            throws RegistrationException {
        int flags = 0;
        for (Access right : access) {
            flags |= switch (right) {
                case LOCAL_WRITE -> Constants.IBV_ACCESS_LOCAL_WRITE;
                case REMOTE_READ -> Constants.IBV_ACCESS_REMOTE_READ;
                case REMOTE_WRITE -> Constants.IBV_ACCESS_REMOTE_WRITE;
            };
        }
        try {
            return new VerbsRegion(verbs(),
                    verbs().register(address, memory.address(), memory.byteSize(), flags),
                    memory.address());
        } catch (ProviderException e) {
            throw new RegistrationException(memory.byteSize() + " bytes of memory are not"
                    + " registered with " + deviceName + ": " + e.getMessage());
        }
    }

    @Override
    public ProviderChannel openChannel() throws RdmaException { return VerbsChannel.open(this); }

    @Override
    public ProviderReceiveQueue createReceiveQueue(int depth, int segments)
            throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(AttributeLayouts.SRQ_INIT);
            attributes.set(JAVA_INT, AttributeLayouts.SRQ_INIT_MAX_WR, depth);
            attributes.set(JAVA_INT, AttributeLayouts.SRQ_INIT_MAX_SGE, segments);
            return new VerbsReceiveQueue(this,
                    verbs().createSharedReceives(address, attributes.address()), segments);
        }
    }

    @Override
    public void close() { Closing.quietly(() -> verbs().freeDomain(address)); }
}
