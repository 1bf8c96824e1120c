package lunar.rdma.libfabric;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.UserPrincipal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.rdma.Operation;
import lunar.rdma.WorkRequest;
import lunar.rdma.posix.ProcessIdentity;
import lunar.rdma.posix.ProcessMemory;

/**
 * The peer of a connection of shm, as its set-up message describes it: its process, its {@link ShmBoard}, and the
 * address of its endpoint.
 */
final class ShmPeer implements AutoCloseable {
    private static final Pattern ENDPOINT = Pattern
            .compile("fi_shm://(?<file>(?<pid>[0-9]{1,9}):[0-9]+:[0-9]+)\0?");

    private final ShmMessage message;
    private final ProcessIdentity process;
    private final String endpointFile;
    private final ShmBoard board;
    private final int channel;
    private final WakeUps wakeUps = new WakeUps();

    private ShmPeer(ShmMessage message, ProcessIdentity process, String endpointFile,
            ShmBoard board) {
        this.message = message;
        this.process = process;
        this.endpointFile = endpointFile;
        this.board = board;
        channel = message.channel();
    }

    /** Signals that the peer violates the set-up protocol, or cannot be reached by shared memory. */
    static final class PeerException extends IOException {
        private static final long serialVersionUID = 1;

        PeerException(String message) { super(message); }
    }

    /**
     * Opens the shared memory of a peer.
     *
     * @param ownBoard name of the board of this side, whose owner the peer has to be
     * @throws IOException if the message names anything that does not exist or does not belong to the peer
     */
    static ShmPeer open(ShmMessage from, String ownBoard) throws IOException {
        Matcher matcher = ENDPOINT.matcher(from.endpoint());
        if (!matcher.matches() || !ShmBoard.NAME.matcher(from.board()).matches()) {
            throw new PeerException("the peer sent invalid names of its shared memory");
        }
        if (!from.board().startsWith(ShmDomain.boardPrefix(matcher.group("pid")))) {
            throw new PeerException("the peer names shared memory of two processes");
        }
        String file = matcher.group("file");
        UserPrincipal own = Files.getOwner(ShmBoard.FOLDER.resolve(ownBoard));
        requireOwner(own, file);
        requireOwner(own, from.board());
        ProcessIdentity process = process(Integer.parseInt(matcher.group("pid")));
        ShmBoard board = ShmBoard.open(from.board());
        boolean opened = false;
        try {
            if (!board.isOpen(from.connection())) {
                throw new PeerException("the peer names shared memory that is not its own");
            }
            requireReachable(process, board, from.connection());
            opened = true;
        } finally {
            if (!opened) {
                board.close();
            }
        }
        return new ShmPeer(from, process, file, board);
    }

    private static ProcessIdentity process(int number) throws IOException {
        try {
            return ProcessIdentity.of(number);
        } catch (NoSuchFileException e) {
            throw unknown(number);
        }
    }

    private static PeerException unknown(int process) {
        return new PeerException("process " + process
                + " is not the peer; between containers, use libfabric:tcp");
    }

    /** Requires that the peer runs as the same user: files of others could have any contents. */
    private static void requireOwner(UserPrincipal own, String file) throws IOException {
        if (!Files.getOwner(ShmBoard.FOLDER.resolve(file), LinkOption.NOFOLLOW_LINKS).equals(own)) {
            throw new PeerException("the peer belongs to another user");
        }
    }

    /** Requires that the kernel permits copies, and that the number of the process means the peer also here. */
    private static void requireReachable(ProcessIdentity process, ShmBoard board,
            ShmBoard.Connection connection) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ValueLayout.JAVA_LONG);
            var copier = new ProcessMemory(arena.allocate(ProcessMemory.bytes(1), Long.BYTES));
            copier.piece(0, state.address(), Long.BYTES);
            int error = copier.read(process.number(), 1, board.ownerAddress(connection),
                    Long.BYTES);
            if (error == Numbers.EPERM) {
                throw new PeerException("the kernel does not permit processes of a user to access"
                        + " each other's memory: set kernel.yama.ptrace_scope to 0, or use"
                        + " libfabric:tcp");
            }
            if (error != 0 || !connection.isIn(state.get(ValueLayout.JAVA_LONG, 0))) {
                throw unknown(process.number());
            }
        }
    }

    ShmMessage message() { return message; }

    ProcessIdentity process() { return process; }

    /** Whether a received message of the peer was still in the peer's memory when it was copied. */
    boolean isDelivered() {
        return board.isDelivered(message.connection());
    }

    /** Whether the peer's thread sleeps and the caller must ring; true for a single caller of this side. */
    boolean takeSleep() {
        return wakeUps.take(board.sleep(channel));
    }

    /**
     * Performs an RDMA operation between local pieces and memory of the peer, if that is registered for it. If the peer
     * has been killed, and another process of the user has got its process id before this side has noticed the end of
     * the connection, the operation accesses memory of that process.
     *
     * @param copier with the local pieces
     * @return 0, or the number of the error (errno)
     */
    int copy(WorkRequest request, ProcessMemory copier, int pieces) {
        boolean reads = request.operation() == Operation.READ;
        ShmBoard.Connection connection = message.connection();
        long address = request.remoteAddress();
        long length = request.bytes();
        if (!board.beginAccess(connection, request.remoteKey(), address, length,
                reads ? ShmBoard.READABLE : ShmBoard.WRITABLE)) {
            return board.isOpen(connection) ? Numbers.EKEYREJECTED : Numbers.ESHUTDOWN;
        }
        try {
            if (length == 0) {
                return 0;
            }
            return reads
                    ? copier.read(process.number(), pieces, address, length)
                    : copier.write(process.number(), pieces, address, length);
        } finally {
            board.endAccess(connection);
        }
    }

    /** Unmaps the board, and deletes the files of a peer whose process was killed. */
    @Override
    public void close() {
        board.close();
        if (!process.isRunning()) {
            if (!process.isReplaced()) { // the file of another process may have the same name
                ShmBoard.deleteQuietly(endpointFile);
            }
            ShmBoard.deleteQuietly(message.board());
        }
    }
}
