package lunar.target;

import lunar.iscsi.session.CommandWindow;

/**
 * Bounds of a server, each of which holds against any peer.
 *
 * @param maxConnections connections of normal sessions at once; a login beyond is refused. A quarter as many may be
 *        pending besides, and the oldest of these are closed first
 * @param maxConnectionsPerAddress connections of normal sessions of all initiators at one address, or in one IPv6
 *        prefix of 64 bits; no address has more sessions than that
 * @param loginTimeoutMs a connection that has not logged in by then is closed
 * @param commandsPerSession command window (MaxCmdSN) of a session
 * @param immediateCommandsPerSession immediate commands in flight in a session
 * @param maxTransferBytes longest data of one command, reported in the Block Limits page
 * @param maxBufferBytes memory for data of all commands together; beyond it commands end with BUSY
 * @param maxBufferBytesPerSession the most that one session may have of it
 * @param maxQueuedBytes answers that a peer has not taken; beyond it nothing more is read from that connection
 * @param idleMs a connection that has been silent so long is pinged, and closed if it is silent as long again
 * @param abortTimeoutMs how long a device has to end an aborted command, which is then left behind; a request that
 *        waits for that is answered within twice the time, or 2 s more
 */
public record ServerLimits(int maxConnections, int maxConnectionsPerAddress, long loginTimeoutMs,
        int commandsPerSession, int immediateCommandsPerSession, int maxTransferBytes,
        long maxBufferBytes, long maxBufferBytesPerSession, long maxQueuedBytes,
        long idleMs, long abortTimeoutMs) {
    /** Enough time to leave commands behind on a busy event loop. */
    private static final long LEAVING_MS = 2_000;

    /** Memory of an answer that is copied to be sent: data up to 8 KiB, headers, and the unused rest of a buffer. */
    private static final int SHORT_ANSWER_BYTES = 10 << 10;
    private static final int LEAST_ANSWER_BYTES = 1 << 20;

    private static final int LEAST_PENDING = 64;
    private static final int MOST_PENDING = 1024;

    /** The limits for a server with some gigabytes of memory. */
    public static final ServerLimits DEFAULT = new ServerLimits(4096, 15_000, 128, 16, 4 << 20,
            512L << 20, 160L << 20, 16L << 20, 30_000, 5_000);

    /** Allows each address half of the connections, or 64 if that is more. */
    public ServerLimits(int maxConnections, long loginTimeoutMs, int commandsPerSession,
            int immediateCommandsPerSession, int maxTransferBytes, long maxBufferBytes,
            long maxBufferBytesPerSession, long maxQueuedBytes, long idleMs,
            long abortTimeoutMs) {
        this(maxConnections, SessionLimits.share(maxConnections), loginTimeoutMs,
                commandsPerSession, immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** Returns a copy with another limit of connections for each address. */
    public ServerLimits withMaxConnectionsPerAddress(int most) {
        return new ServerLimits(maxConnections, most, loginTimeoutMs, commandsPerSession,
                immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** Returns a copy with another limit of connections, half of them to each address, or 64 if that is more. */
    public ServerLimits withMaxConnections(int most) {
        return new ServerLimits(most, loginTimeoutMs, commandsPerSession,
                immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** Returns a copy with another command window. */
    public ServerLimits withCommandsPerSession(int most) {
        return new ServerLimits(maxConnections, maxConnectionsPerAddress, loginTimeoutMs, most,
                immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** Returns how long an answer waits for commands to end: longer than it takes to leave one of them behind. */
    public long answerTimeoutMs() {
        return abortTimeoutMs + Math.max(abortTimeoutMs, LEAVING_MS);
    }

    /** Returns the limit of connections outside normal sessions, besides {@code maxConnections} others. */
    public int maxPendingConnections() {
        return Math.clamp(maxConnections / 4, LEAST_PENDING, MOST_PENDING);
    }

    /** Returns how many of them one origin may have. */
    public int maxPendingOfOrigin() {
        return maxPendingConnections() / 4;
    }

    /**
     * Returns the limit of short answers that wait to be sent on a connection, in bytes of memory; beyond it nothing
     * more is read from the peer. The answers to as many commands as a session may have never reach it.
     */
    public long maxAnswerBytes() {
        return Math.max(LEAST_ANSWER_BYTES, (long) commandsPerSession * SHORT_ANSWER_BYTES);
    }

    /** Returns how long a command may wait for its data while other PDUs of its connection arrive. */
    public long dataTimeoutMs() {
        return 2 * idleMs;
    }

    public ServerLimits {
        if (maxConnections < 1 || maxConnectionsPerAddress < 1 || loginTimeoutMs < 1
                || commandsPerSession < 1
                || commandsPerSession > CommandWindow.MAX_LIMIT
                || immediateCommandsPerSession < 1 || maxTransferBytes < 256 << 10
                || maxTransferBytes > 256 << 20
                || maxBufferBytesPerSession < maxTransferBytes
                || maxBufferBytes < maxBufferBytesPerSession || maxQueuedBytes < 1 || idleMs < 1
                || abortTimeoutMs < 1) {
            throw new IllegalArgumentException("a limit of the server is out of range: " + this);
        }
    }
}
