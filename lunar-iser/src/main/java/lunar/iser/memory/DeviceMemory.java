package lunar.iser.memory;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.iser.wire.ReceivedMessage;
import lunar.rdma.Access;
import lunar.rdma.MemoryRegion;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;

/** Memory that is registered with one device, for all connections over it. Thread-safe. */
public final class DeviceMemory implements AutoCloseable {
    /** Longest data segment that is received, in either direction: all that Linux takes. */
    public static final int MAX_DATA_BYTES = 8192;

    /** Longest additional header segments that are received: a CDB of 260 bytes, and a bidirectional length. */
    public static final int MAX_AHS_BYTES = 260;

    /** Room for the longest message. */
    public static final int LONG_BYTES = ReceivedMessage.HEADERS + MAX_AHS_BYTES + MAX_DATA_BYTES;

    /** Room for a message with sense data, or without data. */
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

    /** Buffers to receive in. */
    public MessageBuffers longMessages() { return longMessages; }

    /** Returns a buffer for a message to send. */
    public MessageBuffer takeFor(int bytes) throws RdmaException {
        return (bytes <= SHORT_BYTES ? shortMessages : longMessages).take();
    }

    public RegisteredPools pools() { return pools; }

    /** Longest RDMA operation. */
    public long maxMessageBytes() {
        return domain.device().limits().maxMessageBytes();
    }

    /** Returns new stand-ins for a connection. */
    public Bounces newBounces() {
        return new Bounces(domain);
    }

    /** Registers memory for one command. */
    public MemoryRegion register(MemorySegment memory, Set<Access> access) throws RdmaException {
        return domain.register(memory, access);
    }

    /** Message buffers that connections have. */
    public int messagesTaken() {
        return longMessages.taken() + shortMessages.taken();
    }

    /** Deregisters everything; no connection may be left. */
    @Override
    public void close() {
        pools.close();
        longMessages.close();
        shortMessages.close();
    }
}
