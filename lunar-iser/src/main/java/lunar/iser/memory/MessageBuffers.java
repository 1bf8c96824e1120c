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
 * Pool of message buffers of equal length, shared by all connections of a device. Grows on demand by registered blocks,
 * which are kept until the device is closed. Thread-safe.
 */
public final class MessageBuffers implements AutoCloseable {
    private static final int ALIGNMENT = 64;
    private static final int PAGE = 4096;

    private final ProtectionDomain domain;
    private final int stride;
    private final int length;
    private final int perBlock;

    /**
     * Free buffers, the most recently used first, since it may still be in the CPU caches. This and all fields below
     * are guarded by this.
     */
    private final ArrayDeque<MessageBuffer> free = new ArrayDeque<>();
    private final List<MemoryRegion> blocks = new ArrayList<>();
    private final List<Arena> arenas = new ArrayList<>();
    private int taken;

    /**
     * @param length length of a buffer in bytes
     * @param perBlock number of buffers in a registered block
     */
    public MessageBuffers(ProtectionDomain domain, int length, int perBlock) {
        this.domain = domain;
        this.length = length;
        this.perBlock = perBlock;
        stride = Math.ceilDiv(length, ALIGNMENT) * ALIGNMENT;
    }

    /** Length of a buffer in bytes. */
    public int length() { return length; }

    /** Takes a buffer; registers another block if none is free. */
    public synchronized MessageBuffer take() throws RdmaException {
        MessageBuffer buffer = free.poll();
        if (buffer == null) {
            grow();
            buffer = free.remove();
        }
        taken++;
        return buffer;
    }

    /** Takes a buffer; returns null if none is free. */
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

    /** Number of buffers that are taken. */
    public synchronized int taken() { return taken; }

    /** Deregisters and frees the memory; all connections must have ended. */
    @Override
    public synchronized void close() {
        free.clear();
        blocks.forEach(MemoryRegion::close);
        blocks.clear();
        arenas.forEach(Arena::close);
        arenas.clear();
    }
}
