package lunar.rdma.libfabric;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import lunar.rdma.Access;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.RegistrationException;
import lunar.rdma.posix.ProcessIdentity;
import lunar.rdma.spi.ProviderChannel;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderReceiveQueue;
import lunar.rdma.spi.ProviderRegion;

/** A domain of shm with its {@link ShmBoard}. The lower bits of a remote key are the number of its slot there. */
final class ShmDomain implements ProviderDomain {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    /** Prefix of the names of this process's boards. */
    static final String BOARD_PREFIX = boardPrefix(Long.toString(ProcessHandle.current().pid()));

    /** Shared memory that libfabric takes for an endpoint (16 MiB), and what is to be left for others. */
    private static final long ENDPOINT_BYTES = 20L << 20;
    private static final int SPINS = 1000;
    private static final int QUIET_MS = 1000;

    private final FabricDomain fabric;
    private final SecureRandom random = new SecureRandom();
    private final String boardName;
    private final ShmBoard board;
    /** Slots of the board that are taken. Guarded by this. */
    private final BitSet channels = new BitSet();
    private final BitSet connections = new BitSet();
    private final BitSet regions = new BitSet();
    /** Processes of the peers, by the places of their connections. */
    private final AtomicReferenceArray<ProcessIdentity> peers = new AtomicReferenceArray<>(
            ShmBoard.CONNECTIONS);
    /** Place of the last connection; the next one gets a later place, so that places are reused late. */
    private int lastConnection = -1;

    /**
     * @param info owned by the domain from now on
     */
    ShmDomain(FabricInfo info) throws ProviderException {
        fabric = new FabricDomain(info, _ -> {
            throw new UnsupportedOperationException("channel without a board");
        });
        boardName = BOARD_PREFIX + HexFormat.of().toHexDigits(random.nextLong());
        boolean shown = false;
        boolean created = false;
        try {
            ShmPresence.begin();
            shown = true;
            board = ShmBoard.create(boardName);
            created = true;
        } catch (IOException e) {
            throw new ProviderException("shared memory: " + e, Numbers.ENOMEM);
        } finally {
            if (!created) {
                fabric.close();
            }
            if (shown && !created) {
                ShmPresence.end();
            }
        }
    }

    /** Returns the prefix of the names of a process's boards. */
    static String boardPrefix(String pid) {
        return ShmBoard.PREFIX + pid + "-";
    }

    FabricDomain fabric() { return fabric; }

    ShmBoard board() { return board; }

    String boardName() { return boardName; }

    @Override
    public ProviderRegion register(MemorySegment memory, Set<Access> access)
            throws RdmaException {
        int slot = take(regions, ShmBoard.REGIONS);
        if (slot < 0) {
            throw new RegistrationException(
                    "all " + ShmBoard.REGIONS + " regions of the domain are registered");
        }
        boolean registered = false;
        try {
            FabricRegion region = fabric.register(memory, access,
                    () -> (random.nextInt() & -ShmBoard.REGIONS) | slot);
            int rights = (access.contains(Access.REMOTE_READ) ? ShmBoard.READABLE : 0)
                    | (access.contains(Access.REMOTE_WRITE) ? ShmBoard.WRITABLE : 0);
            board.setRegion(region.remoteKey(), region.remoteAddress(), memory.byteSize(), rights);
            registered = true;
            return new Region(region, slot);
        } finally {
            if (!registered) {
                give(regions, slot);
            }
        }
    }

    /** A region with its slot on the board. */
    private final class Region implements ProviderRegion {
        private final FabricRegion region;
        private final int slot;

        Region(FabricRegion region, int slot) {
            this.region = region;
            this.slot = slot;
        }

        @Override
        public long localKey() { return region.localKey(); }

        @Override
        public int remoteKey() { return region.remoteKey(); }

        @Override
        public long remoteAddress() { return region.remoteAddress(); }

        @Override
        public void close() {
            board.removeRegion(region.remoteKey());
            BitSet open;
            synchronized (ShmDomain.this) {
                open = (BitSet) connections.clone();
            }
            open.stream().forEach(ShmDomain.this::awaitAccess);
            region.close();
            give(regions, slot);
        }
    }

    /**
     * Waits until an access that the peer of a connection has begun has ended, or the peer's process has. The wait has
     * no time limit, since a peer that is stopped in the middle of an access finishes it when it continues.
     */
    private void awaitAccess(int connection) {
        int access = board.access(connection);
        boolean interrupted = false;
        for (int i = 0; (access & 1) != 0 && board.access(connection) == access; i++) {
            if (i < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            ProcessIdentity peer = peers.get(connection);
            if (peer == null || !peer.isRunning()) {
                break;
            }
            if (i == SPINS + QUIET_MS) {
                LOG.log(System.Logger.Level.WARNING, "waiting for process {0}, which has stopped"
                        + " while it accessed memory of this process: continue or end it",
                        Integer.toString(peer.number()));
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private int take(BitSet slots, int limit) { return take(slots, limit, 0); }

    /** Takes the first free slot from one on, or else the first of all; returns -1 if none is free. */
    private synchronized int take(BitSet slots, int limit, int from) {
        int slot = slots.nextClearBit(from);
        slot = slot < limit ? slot : slots.nextClearBit(0);
        if (slot >= limit) {
            return -1;
        }
        slots.set(slot);
        return slot;
    }

    private synchronized void give(BitSet slots, int slot) { slots.clear(slot); }

    int takeChannel() throws ProviderException {
        int slot = take(channels, ShmBoard.CHANNELS);
        if (slot < 0) {
            throw new ProviderException(
                    "all " + ShmBoard.CHANNELS + " channels of the domain are open",
                    Numbers.ENOMEM);
        }
        return slot;
    }

    void giveChannel(int slot) {
        board.setSleep(slot, 0);
        give(channels, slot);
    }

    ShmBoard.Connection takeConnection() throws ProviderException {
        int slot;
        synchronized (this) {
            slot = take(connections, ShmBoard.CONNECTIONS, lastConnection + 1);
            if (slot >= 0) {
                lastConnection = slot;
            }
        }
        if (slot < 0) {
            throw new ProviderException(
                    "all " + ShmBoard.CONNECTIONS + " connections of the domain are open",
                    Numbers.ENOMEM);
        }
        boolean hasRoom = false;
        try {
            requireRoom();
            hasRoom = true;
        } finally {
            if (!hasRoom) {
                give(connections, slot);
            }
        }
        int number;
        do {
            number = random.nextInt();
        } while (number == 0);
        var connection = new ShmBoard.Connection(slot, number);
        board.open(connection);
        return connection;
    }

    /** Requires room in /dev/shm for an endpoint: libfabric does not, and a page without room ends the process. */
    private static void requireRoom() throws ProviderException {
        long room;
        try {
            room = ShmBoard.room();
        } catch (IOException e) {
            throw new ProviderException("shared memory: " + e, Numbers.ENOMEM);
        }
        if (room < ENDPOINT_BYTES) {
            throw new ProviderException("/dev/shm has " + (room >> 20)
                    + " MiB left, and a connection needs " + (ENDPOINT_BYTES >> 20),
                    Numbers.ENOMEM);
        }
    }

    /** Sets the process that may access memory by a connection from now on. */
    void setPeer(ShmBoard.Connection connection, ProcessIdentity process) {
        peers.set(connection.slot(), process);
    }

    /**
     * Ends the accesses of a peer: after this, it no longer copies from or to memory of this side.
     *
     * @param hasDelivered whether the peer has received all messages that were sent to it
     */
    void giveConnection(ShmBoard.Connection connection, boolean hasDelivered) {
        board.close(connection, hasDelivered);
        awaitAccess(connection.slot());
        peers.set(connection.slot(), null);
        give(connections, connection.slot());
    }

    @Override
    public ProviderChannel openChannel() throws RdmaException { return new ShmChannel(this); }

    @Override
    public ProviderReceiveQueue createReceiveQueue(int depth, int segments) {
        throw new UnsupportedOperationException("shared receive queue");
    }

    @Override
    public void close() {
        fabric.close();
        board.close();
        try {
            ShmBoard.delete(boardName);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "shared memory: {0}", e.toString());
        }
        ShmPresence.end();
    }
}
