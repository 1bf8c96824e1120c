package lunar.rdma.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Memory that a domain shares with its peers on the machine, a file in /dev/shm: sleep flags of channels, states of
 * connections, and the keys of registered memory, none of which libfabric's shm has. Written by its owner, except where
 * noted.
 *
 * <pre>
 *      0  magic, 8 bytes
 *   4096  channels, 64 bytes each
 *            0  1 while the channel's thread sleeps, so that peers must ring (a peer sets it to 0)
 *  69632  connections, 64 bytes each
 *            0  1 while the connection is open
 *            4  number that is odd while the peer moves data from or to memory of the owner (written by the peer)
 * 135168  regions of memory, 32 bytes each, by the lower 12 bits of their keys
 *            0  address     8  length     16  key     20  rights, 0 for none
 * </pre>
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
    private static final Path FOLDER = Path.of("/dev/shm");
    static final Pattern NAME = Pattern.compile("lunar-rdma-\\d{1,10}-[0-9a-f]{16}");

    private static final long MAGIC = 0x4c756e6152444d41L;
    private static final long CHANNEL_AT = 4096;
    private static final long CONNECTION_AT = 69632;
    private static final long ACCESS = 4;
    private static final long SLOT_BYTES = 64;
    private static final long REGION_AT = CONNECTION_AT + CONNECTIONS * SLOT_BYTES;
    private static final long REGION_BYTES = 32;
    private static final long BYTES = REGION_AT + REGIONS * REGION_BYTES;
    private static final long LENGTH = 8;
    private static final long KEY = 16;
    private static final long RIGHTS = 20;

    private static final VarHandle NUMBER = ValueLayout.JAVA_INT.varHandle();

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
                PosixFilePermissions.asFileAttribute(
                        PosixFilePermissions.fromString("rw-------")))) {
            ShmBoard board = map(file);
            board.memory.set(ValueLayout.JAVA_LONG, 0, MAGIC);
            return board;
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

    /**
     * Deletes the files of a peer whose process has ended without deleting them, because it was killed.
     *
     * @param pid of the peer, as libfabric uses it to address its memory
     * @param names of files in /dev/shm
     */
    static void deleteIfOrphaned(long pid, String... names) {
        try {
            if (!isRunning(pid)) {
                for (String name : names) {
                    delete(name);
                }
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "files of process {0}: {1}", pid, e.toString());
        }
    }

    private static boolean isRunning(long pid) throws IOException {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z'; // proc(5): the state follows the name
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Sets whether the thread of a channel sleeps or is about to. */
    void setSleeping(int channel, boolean sleeps) {
        NUMBER.setVolatile(memory, CHANNEL_AT + channel * SLOT_BYTES, sleeps ? 1 : 0);
    }

    /** Whether the thread of a channel sleeps and the caller must wake it up; true for a single caller. */
    boolean takeSleeping(int channel) {
        VarHandle.fullFence(); // the other thread sees what was posted, or this one sees it sleep
        long at = CHANNEL_AT + channel * SLOT_BYTES;
        return (int) NUMBER.getOpaque(memory, at) != 0
                && (boolean) NUMBER.compareAndSet(memory, at, 1, 0);
    }

    void setOpen(int connection, boolean isOpen) {
        NUMBER.setVolatile(memory, CONNECTION_AT + connection * SLOT_BYTES, isOpen ? 1 : 0);
    }

    private boolean isOpen(int connection) {
        return (int) NUMBER.getVolatile(memory, CONNECTION_AT + connection * SLOT_BYTES) == 1;
    }

    /** Number of an access by the peer of a connection: odd while it goes on, changed when it has ended. */
    int access(int connection) {
        return (int) NUMBER.getVolatile(memory, CONNECTION_AT + connection * SLOT_BYTES + ACCESS);
    }

    /** Clears the state that an earlier peer has left. */
    void resetAccess(int connection) {
        NUMBER.setVolatile(memory, CONNECTION_AT + connection * SLOT_BYTES + ACCESS, 0);
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
     * Starts to access memory of the owner; {@link #endAccess} follows.
     *
     * @param right needed for the region
     * @return whether the connection is open, and the memory is registered for this access
     */
    boolean beginAccess(int connection, int key, long address, long length, int right) {
        long accessAt = CONNECTION_AT + connection * SLOT_BYTES + ACCESS;
        NUMBER.setVolatile(memory, accessAt, (int) NUMBER.get(memory, accessAt) | 1);
        VarHandle.fullFence(); // the owner sees this access as it ends access, or this thread sees the end
        long at = REGION_AT + (key & (REGIONS - 1)) * REGION_BYTES;
        if (!isOpen(connection) || ((int) NUMBER.getVolatile(memory, at + RIGHTS) & right) == 0
                || memory.get(ValueLayout.JAVA_INT, at + KEY) != key) {
            return false;
        }
        long offset = address - memory.get(ValueLayout.JAVA_LONG, at);
        return offset >= 0 && length >= 0
                && offset <= memory.get(ValueLayout.JAVA_LONG, at + LENGTH) - length;
    }

    void endAccess(int connection) {
        long at = CONNECTION_AT + connection * SLOT_BYTES + ACCESS;
        NUMBER.setRelease(memory, at, (int) NUMBER.get(memory, at) + 1);
    }

    @Override
    public void close() { arena.close(); }
}
