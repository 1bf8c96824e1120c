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

/** A protection domain of verbs: registers memory, opens channels. */
final class VerbsDomain implements ProviderDomain {
    private final NativeDomain domain;

    VerbsDomain(NativeDomain domain) { this.domain = domain; }

    NativeDomain nativeDomain() { return domain; }

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
            return new VerbsRegion(domain.verbs(),
                    domain.verbs().register(domain.address(), memory.address(), memory.byteSize(),
                            flags),
                    memory.address());
        } catch (ProviderException e) {
            throw new RegistrationException(memory.byteSize() + " bytes of memory are not"
                    + " registered with " + domain.deviceName() + ": " + e.getMessage());
        }
    }

    @Override
    public ProviderChannel openChannel() throws RdmaException { return VerbsChannel.open(domain); }

    @Override
    public ProviderReceiveQueue createReceiveQueue(int depth, int segments)
            throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(AttributeLayouts.SRQ_INIT);
            attributes.set(JAVA_INT, AttributeLayouts.SRQ_INIT_MAX_WR, depth);
            attributes.set(JAVA_INT, AttributeLayouts.SRQ_INIT_MAX_SGE, segments);
            return new VerbsReceiveQueue(domain,
                    domain.verbs().createSharedReceives(domain.address(), attributes.address()),
                    segments);
        }
    }

    @Override
    public void close() { domain.free(); }
}
