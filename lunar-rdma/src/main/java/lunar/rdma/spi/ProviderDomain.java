package lunar.rdma.spi;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.Access;
import lunar.rdma.RdmaException;

/** An open device with a protection domain. Thread-safe. */
public interface ProviderDomain extends AutoCloseable {
    /**
     * Registers native memory.
     *
     * @throws lunar.rdma.RegistrationException if the device or a system limit does not permit it
     */
    ProviderRegion register(MemorySegment memory, Set<Access> access) throws RdmaException;

    ProviderChannel openChannel() throws RdmaException;

    /**
     * Creates a receive queue that endpoints can share; called only if the device has
     * {@link lunar.rdma.Capability#SHARED_RECEIVE_QUEUE}.
     */
    ProviderReceiveQueue createReceiveQueue(int depth, int segments) throws RdmaException;

    @Override
    void close();
}
