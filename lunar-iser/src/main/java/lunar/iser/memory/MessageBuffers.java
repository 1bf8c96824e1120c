package lunar.iser.memory;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import lunar.rdma.Access;
import lunar.rdma.MemoryRegion;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Buffers for messages of one length, shared by all connections of a device. Registered in blocks, as many as are
 * needed at a time; kept until the device is closed. Thread-safe.
 */
public final class MessageBuffers implements AutoCloseable {
    private static final int ALIGNMENT = 64;
    private static final int PAGE = 4096;

    private final ProtectionDomain domain;
    private final int stride;
    private final int length;
    private final int perBlock;

    /** Guarded by this, as is all below. Those used last come first, since they may be in the caches. */
    private final ArrayDeque<MessageBuffer> free = new ArrayDeque<>();
    private final List<MemoryRegion> blocks = new ArrayList<>();
    private final List<Arena> arenas = new ArrayList<>();
    private int taken;

    /**
     * @param length of a buffer in bytes
     * @param perBlock buffers that are registered at once
     */
    public MessageBuffers(ProtectionDomain domain, int length, int perBlock) {
        this.domain = domain;
        this.length = length;
        this.perBlock = perBlock;
        stride = Math.ceilDiv(length, ALIGNMENT) * ALIGNMENT;
    }

    /** Length of a buffer in bytes. */
    public int length() { return length; }

    /** Takes a buffer; registers more where none is free. */
    public synchronized MessageBuffer take() throws RdmaException {
        MessageBuffer buffer = free.poll();
        if (buffer == null) {
            grow();
            buffer = free.remove();
        }
        taken++;
        return buffer;
    }

    /** Takes a buffer if one is free. */
    public synchronized @Nullable MessageBuffer tryTake() {
        MessageBuffer buffer = free.poll();
        if (buffer != null) {
            taken++;
        }
        return buffer;
    }

    private void grow() throws RdmaException {
        Arena arena = Arena.ofShared();
        boolean registered = false;
        try {
            MemoryRegion block = domain.register(
                    arena.allocate((long) stride * perBlock, PAGE), Access.LOCAL);
            registered = true;
            arenas.add(arena);
            blocks.add(block);
            for (int i = 0; i < perBlock; i++) {
                free.add(new MessageBuffer(this, block, (long) i * stride, length));
            }
        } finally {
            if (!registered) {
                arena.close();
            }
        }
    }

    synchronized void give(MessageBuffer buffer) {
        free.push(buffer);
        taken--;
    }

    /** How many are taken. */
    public synchronized int taken() { return taken; }

    /** Deregisters and frees the memory; no connection may be left that uses it. */
    @Override
    public synchronized void close() {
        free.clear();
        blocks.forEach(MemoryRegion::close);
        blocks.clear();
        arenas.forEach(Arena::close);
        arenas.clear();
    }
}
