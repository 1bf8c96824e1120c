package lunar.rdma.spi;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.rdma.Access;
import lunar.rdma.RdmaException;

/** An open device and a protection domain on it. All methods may be called by any thread. */
public interface ProviderDomain extends AutoCloseable {
    /**
     * Registers native memory.
     *
     * @throws lunar.rdma.RegistrationException if the device or a limit of the system refuses it
     */
    ProviderRegion register(MemorySegment memory, Set<Access> access) throws RdmaException;

    ProviderChannel openChannel() throws RdmaException;

    /**
     * Makes a receive queue that endpoints can share; called only if the device has
     * {@link lunar.rdma.Capability#SHARED_RECEIVE_QUEUE}.
     */
    ProviderReceiveQueue createReceiveQueue(int depth, int segments) throws RdmaException;

    @Override
    void close();
}
