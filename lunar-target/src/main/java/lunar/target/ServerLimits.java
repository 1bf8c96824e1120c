package lunar.target;

import lunar.iscsi.CommandWindow;

/**
 * Bounds of a server, each of which holds against any peer.
 *
 * @param maxConnections connections of normal sessions at once; one more is refused at login. A quarter as many may be
 *        open besides, and the oldest of these go first
 * @param maxConnectionsPerAddress connections of normal sessions of all initiators at one address, or in one IPv6
 *        prefix of 64 bits; no address has more sessions than that
 * @param loginTimeoutMs a connection that has not logged in by then is closed
 * @param commandsPerSession command window (MaxCmdSN) of a session
 * @param immediateCommandsPerSession immediate commands in flight in a session
 * @param maxTransferBytes longest data of one command, told in the Block Limits page
 * @param maxBufferBytes memory for data of all commands together; beyond it commands end with BUSY
 * @param maxBufferBytesPerSession the most that one session may have of it
 * @param maxQueuedBytes answers that a connection's peer has not taken; beyond it nothing more is read from it
 * @param idleMs a connection that has been silent so long is pinged, and closed if it is silent as long again
 * @param abortTimeoutMs how long a device has to end an aborted command, which is then left behind; whoever waits for
 *        that is answered within twice the time, or 2 s more
 */
public record ServerLimits(int maxConnections, int maxConnectionsPerAddress, long loginTimeoutMs,
        int commandsPerSession, int immediateCommandsPerSession, int maxTransferBytes,
        long maxBufferBytes, long maxBufferBytesPerSession, long maxQueuedBytes,
        long idleMs, long abortTimeoutMs) {
    /** Time enough to leave commands behind, on a loop that has other things to do. */
    private static final long LEAVING_MS = 2_000;

    /** An answer that is copied to be sent: data to 8 KiB, headers, and what the last one leaves of a buffer. */
    private static final int SHORT_ANSWER_BYTES = 10 << 10;
    private static final int LEAST_ANSWER_BYTES = 1 << 20;

    private static final int LEAST_PENDING = 64;
    private static final int MOST_PENDING = 1024;

    /** What suits a server with some gigabytes of memory. */
    public static final ServerLimits DEFAULT = new ServerLimits(4096, 15_000, 128, 16, 4 << 20,
            512L << 20, 160L << 20, 16L << 20, 30_000, 5_000);

    /** Half of the connections to each address, or 64 if that is more. */
    public ServerLimits(int maxConnections, long loginTimeoutMs, int commandsPerSession,
            int immediateCommandsPerSession, int maxTransferBytes, long maxBufferBytes,
            long maxBufferBytesPerSession, long maxQueuedBytes, long idleMs,
            long abortTimeoutMs) {
        this(maxConnections, SessionLimits.share(maxConnections), loginTimeoutMs,
                commandsPerSession, immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** The same with so many connections of each address at most. */
    public ServerLimits withMaxConnectionsPerAddress(int most) {
        return new ServerLimits(maxConnections, most, loginTimeoutMs, commandsPerSession,
                immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** The same for another number of connections, half of them to each address, or 64 if that is more. */
    public ServerLimits withMaxConnections(int most) {
        return new ServerLimits(most, loginTimeoutMs, commandsPerSession,
                immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** The same with another command window. */
    public ServerLimits withCommandsPerSession(int most) {
        return new ServerLimits(maxConnections, maxConnectionsPerAddress, loginTimeoutMs, most,
                immediateCommandsPerSession, maxTransferBytes, maxBufferBytes,
                maxBufferBytesPerSession, maxQueuedBytes, idleMs, abortTimeoutMs);
    }

    /** How long an answer waits for commands to end: longer than it takes to leave one of them behind. */
    long answerTimeoutMs() {
        return abortTimeoutMs + Math.max(abortTimeoutMs, LEAVING_MS);
    }

    /** Connections that belong to no normal session, beside {@code maxConnections} that do; the oldest goes first. */
    int maxPendingConnections() {
        return Math.clamp(maxConnections / 4, LEAST_PENDING, MOST_PENDING);
    }

    /** How many of them one host may have. */
    int maxPendingOfOrigin() {
        return maxPendingConnections() / 4;
    }

    /**
     * Short answers that wait to be sent on a connection, in bytes of memory; beyond it nothing more is read from its
     * peer, be it pings, text or commands. As many as a session may have commands never reach it.
     */
    long maxAnswerBytes() {
        return Math.max(LEAST_ANSWER_BYTES, (long) commandsPerSession * SHORT_ANSWER_BYTES);
    }

    /** How long a command may wait for its data while others of its connection come. */
    long dataTimeoutMs() {
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
