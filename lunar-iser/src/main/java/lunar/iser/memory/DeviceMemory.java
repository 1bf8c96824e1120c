package lunar.iser.memory;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.iser.wire.ReceivedMessage;
import lunar.rdma.Access;
import lunar.rdma.MemoryRegion;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/** Registered memory of one device, shared by all its connections. Thread-safe. */
public final class DeviceMemory implements AutoCloseable {
    /** Longest data segment in either direction, which is the limit of Linux. */
    public static final int MAX_DATA_BYTES = 8192;

    /** Most bytes of additional header segments: enough for a CDB of 260 bytes and a bidirectional read length. */
    public static final int MAX_AHS_BYTES = 260;

    /** Length of a buffer for any message. */
    public static final int LONG_BYTES = ReceivedMessage.HEADERS + MAX_AHS_BYTES + MAX_DATA_BYTES;

    /** Length of a buffer for a message that has no data, or only sense data. */
    public static final int SHORT_BYTES = 512;

    private static final int LONG_PER_BLOCK = 128;
    private static final int SHORT_PER_BLOCK = 1024;

    private final ProtectionDomain domain;
    private final MessageBuffers longMessages;
    private final MessageBuffers shortMessages;
    private final RegisteredPools pools;

    public DeviceMemory(ProtectionDomain domain) {
        this.domain = domain;
        longMessages = new MessageBuffers(domain, LONG_BYTES, LONG_PER_BLOCK);
        shortMessages = new MessageBuffers(domain, SHORT_BYTES, SHORT_PER_BLOCK);
        pools = new RegisteredPools(domain);
    }

    /** Returns the buffers for received messages. */
    public MessageBuffers longMessages() {
        return longMessages;
    }

    /** Takes a buffer for a message to send. */
    public MessageBuffer takeFor(int bytes) throws RdmaException {
        return (bytes <= SHORT_BYTES ? shortMessages : longMessages).take();
    }

    public RegisteredPools pools() { return pools; }

    /** Returns the length in bytes of the longest RDMA operation. */
    public long maxMessageBytes() {
        return domain.device().limits().maxMessageBytes();
    }

    /** Returns new bounce buffers for a connection. */
    public Bounces newBounces() {
        return new Bounces(domain);
    }

    /** Registers memory, such as the buffer of one command. */
    public MemoryRegion register(MemorySegment memory, Set<Access> access) throws RdmaException {
        return domain.register(memory, access);
    }

    /** Returns the number of message buffers that connections hold. */
    public int messagesTaken() {
        return longMessages.taken() + shortMessages.taken();
    }

    /** Deregisters all memory; all connections must have ended. */
    @Override
    public void close() {
        pools.close();
        longMessages.close();
        shortMessages.close();
    }
}
