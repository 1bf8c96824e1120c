package lunar.rdma.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Memory that a domain shares with its peers on the machine, a file in /dev/shm: sleeps of channels, states of
 * connections, and the keys of registered memory, none of which libfabric's shm has. Written by its owner, except where
 * noted.
 *
 * <pre>
 *      0  magic, 8 bytes
 *      8  address of this memory in the process of the owner
 *   4096  channels, 64 bytes each
 *            0  number of the sleep while the channel's thread sleeps, so that each peer must ring once; otherwise 0
 *  69632  connections, 64 bytes each
 *            0  number of the connection; 0 once it is closed
 *            4  count that is odd while the peer moves data from or to memory of the owner (written by the peer)
 *            8  number of the connection if the peer had received all messages when it was closed
 * 135168  regions of memory, 32 bytes each, by the lower 12 bits of their keys
 *            0  address     8  length     16  key     20  rights, 0 for none
 * </pre>
 *
 * <p>The number of a connection is random. It distinguishes connections that use one place one after another, so that
 * the peer of an earlier one no longer accesses memory. Other users cannot read the file, so in the set-up the number
 * also proves that the peer which names a place has it from its owner.
 *
 * <p>Peers access each other's memory directly, by system calls in which the owner takes no part, so each peer checks
 * the key itself before each access. That protects against mistakes, like the check of an adapter; processes of one
 * user have no protection against each other in any case.
 */
final class ShmBoard implements AutoCloseable {
    static final int CHANNELS = 1024;
    static final int CONNECTIONS = 1024;
    static final int REGIONS = 4096;
    static final int READABLE = 1;
    static final int WRITABLE = 2;

    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    static final Path FOLDER = Path.of("/dev/shm");
    /** Attributes of new files: for their user alone. */
    static final FileAttribute<Set<PosixFilePermission>> PRIVATE = PosixFilePermissions
            .asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    /** How the names of Lunar's files there begin. */
    static final String PREFIX = "lunar-rdma-";
    static final Pattern NAME = Pattern.compile(PREFIX + "\\d{1,10}-[0-9a-f]{16}");

    private static final long MAGIC = 0x4c756e6152444d42L;
    private static final long ADDRESS = 8;
    private static final long CHANNEL_AT = 4096;
    private static final long CONNECTION_AT = 69632;
    private static final long DELIVERED = 8;
    private static final long SLOT_BYTES = 64;
    private static final long REGION_AT = CONNECTION_AT + CONNECTIONS * SLOT_BYTES;
    private static final long REGION_BYTES = 32;
    private static final long BYTES = REGION_AT + REGIONS * REGION_BYTES;
    private static final long LENGTH = 8;
    private static final long KEY = 16;
    private static final long RIGHTS = 20;

    private static final VarHandle NUMBER = ValueLayout.JAVA_INT.varHandle();
    /** Number of a connection in the upper half, count of accesses in the lower. */
    private static final VarHandle STATE = ValueLayout.JAVA_LONG.varHandle();
    private static final long COUNT_MASK = 0xFFFF_FFFFL;

    /**
     * Place of a connection on a board.
     *
     * @param number random; not 0
     */
    record Connection(int slot, int number) {
        private long stateAt() { return CONNECTION_AT + slot * SLOT_BYTES; }

        private long deliveredAt() { return stateAt() + DELIVERED; }

        /** Whether a place has this connection. */
        boolean isIn(long state) {
            return number != 0 && (int) (state >>> Integer.SIZE) == number;
        }
    }

    private final Arena arena;
    private final MemorySegment memory;

    private ShmBoard(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /** Creates the board of a domain. */
    static ShmBoard create(String name) throws IOException {
        try (FileChannel file = FileChannel.open(FOLDER.resolve(name),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                        StandardOpenOption.WRITE),
                PRIVATE)) {
            // So that there is room for it: a mapped page without room in /dev/shm kills the process.
            for (ByteBuffer zeros = ByteBuffer.allocate((int) BYTES); zeros.hasRemaining();) {
                file.write(zeros);
            }
            ShmBoard board = map(file);
            board.memory.set(ValueLayout.JAVA_LONG, ADDRESS, board.memory.address());
            board.memory.set(ValueLayout.JAVA_LONG, 0, MAGIC);
            return board;
        } catch (IOException e) {
            deleteQuietly(name);
            throw e;
        }
    }

    /** Opens the board of a peer. */
    static ShmBoard open(String name) throws IOException {
        if (!NAME.matcher(name).matches()) {
            throw new IOException("invalid name of shared memory");
        }
        try (FileChannel file = FileChannel.open(FOLDER.resolve(name), StandardOpenOption.READ,
                StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            if (file.size() != BYTES) {
                throw new IOException(name + " is not shared memory of this version");
            }
            ShmBoard board = map(file);
            if (board.memory.get(ValueLayout.JAVA_LONG, 0) != MAGIC) {
                board.close();
                throw new IOException(name + " is not shared memory of this version");
            }
            return board;
        }
    }

    private static ShmBoard map(FileChannel file) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            return new ShmBoard(arena, file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena));
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    static void delete(String name) throws IOException {
        Files.deleteIfExists(FOLDER.resolve(name));
    }

    /** Returns the number of bytes that new files in /dev/shm may have. */
    static long room() throws IOException {
        return Files.getFileStore(FOLDER).getUsableSpace();
    }

    /** Deletes a file in /dev/shm, if it exists. */
    static void deleteQuietly(String name) {
        try {
            delete(name);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "shared memory {0}: {1}", name, e.toString());
        }
    }

    /** Returns the address of a connection's state in the process of the owner. */
    long ownerAddress(Connection connection) {
        return memory.get(ValueLayout.JAVA_LONG, ADDRESS) + connection.stateAt();
    }

    /**
     * Sets the number of the sleep that a channel's thread begins, which differs from that of its previous sleep; 0
     * when the sleep has ended.
     */
    void setSleep(int channel, int number) {
        NUMBER.setVolatile(memory, CHANNEL_AT + channel * SLOT_BYTES, number);
    }

    /**
     * Returns the number of the sleep of a channel's thread; 0 if it does not sleep. Each peer must wake the thread up
     * once per sleep, and does not rely on the others, which may have ended or be stopped. Between the work for which
     * the caller wakes the thread up and this call, there must be a full fence, or a lock that the thread takes as
     * well: then either the thread sees that work before it sleeps, or the caller sees that the thread sleeps.
     */
    int sleep(int channel) {
        return (int) NUMBER.getOpaque(memory, CHANNEL_AT + channel * SLOT_BYTES);
    }

    private long state(Connection connection) {
        return (long) STATE.getVolatile(memory, connection.stateAt());
    }

    /** Opens a connection, in a place that no peer accesses any more. */
    void open(Connection connection) {
        STATE.setVolatile(memory, connection.stateAt(),
                (long) connection.number() << Integer.SIZE);
    }

    /** Whether the board shows a connection as open. */
    boolean isOpen(Connection connection) {
        return connection.isIn(state(connection));
    }

    /**
     * Closes a connection: its peer begins no more accesses. One that has begun goes on with its {@linkplain #access
     * count}.
     *
     * @param hasDelivered whether the peer has received all messages that were sent to it
     */
    void close(Connection connection, boolean hasDelivered) {
        NUMBER.setVolatile(memory, connection.deliveredAt(),
                hasDelivered ? connection.number() : 0);
        long state;
        do {
            state = state(connection);
        } while (!STATE.compareAndSet(memory, connection.stateAt(), state, state & COUNT_MASK));
    }

    /**
     * Whether a received message of the owner was still in the owner's memory when it was copied: the connection is
     * open, or was closed after its peer had received all messages.
     */
    boolean isDelivered(Connection connection) {
        return isOpen(connection)
                || (int) NUMBER.getVolatile(memory, connection.deliveredAt()) == connection
                        .number();
    }

    /** Returns the count of accesses in a place: odd while one goes on, changed when it has ended. */
    int access(int slot) {
        return (int) (long) STATE.getVolatile(memory, CONNECTION_AT + slot * SLOT_BYTES);
    }

    /** Publishes a region. */
    void setRegion(int key, long address, long length, int rights) {
        long at = REGION_AT + (key & (REGIONS - 1)) * REGION_BYTES;
        memory.set(ValueLayout.JAVA_LONG, at, address);
        memory.set(ValueLayout.JAVA_LONG, at + LENGTH, length);
        memory.set(ValueLayout.JAVA_INT, at + KEY, key);
        NUMBER.setVolatile(memory, at + RIGHTS, rights);
    }

    /** Withdraws a region; peers that have begun to access it go on with that {@linkplain #access access}. */
    void removeRegion(int key) {
        NUMBER.setVolatile(memory, REGION_AT + (key & (REGIONS - 1)) * REGION_BYTES + RIGHTS, 0);
    }

    /**
     * Starts to access memory of the owner; {@link #endAccess} follows if this returns true.
     *
     * @param right needed for the region
     * @return whether the connection is open, and the memory is registered for this access
     */
    boolean beginAccess(Connection connection, int key, long address, long length, int right) {
        long state;
        do {
            state = state(connection);
            if (!connection.isIn(state)) {
                return false;
            }
        } while (!STATE.compareAndSet(memory, connection.stateAt(), state, state | 1));
        // The owner sees this access when it ends access, or this thread sees the end.
        VarHandle.fullFence();
        if (allows(key, address, length, right)) {
            return true;
        }
        endAccess(connection);
        return false;
    }

    private boolean allows(int key, long address, long length, int right) {
        long at = REGION_AT + (key & (REGIONS - 1)) * REGION_BYTES;
        if (((int) NUMBER.getVolatile(memory, at + RIGHTS) & right) == 0
                || memory.get(ValueLayout.JAVA_INT, at + KEY) != key) {
            return false;
        }
        long offset = address - memory.get(ValueLayout.JAVA_LONG, at);
        return offset >= 0 && length >= 0
                && offset <= memory.get(ValueLayout.JAVA_LONG, at + LENGTH) - length;
    }

    /** Ends an access; has no effect if the place belongs to another connection meanwhile. */
    void endAccess(Connection connection) {
        long state;
        long ended;
        do {
            state = state(connection);
            if (state >>> Integer.SIZE != 0 && !connection.isIn(state)) {
                return;
            }
            ended = (state & ~COUNT_MASK) | ((state + 1) & COUNT_MASK);
        } while (!STATE.compareAndSet(memory, connection.stateAt(), state, ended));
    }

    @Override
    public void close() { arena.close(); }
}
