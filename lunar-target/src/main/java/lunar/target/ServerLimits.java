package lunar.target;

import lunar.iscsi.session.CommandWindow;

/**
 * Resource limits of a server, enforced against any peer.
 *
 * @param maxConnections maximum number of connections of normal sessions; further logins are rejected. In addition, a
 *        quarter as many may be pending, of which the oldest are closed first
 * @param maxConnectionsPerAddress maximum number of connections of normal sessions from one address, or one IPv6 prefix
 *        of 64 bits; also bounds the sessions of an address
 * @param loginTimeoutMs time after which a connection that has not logged in is closed
 * @param commandsPerSession command window (MaxCmdSN) of a session
 * @param immediateCommandsPerSession immediate commands in flight in a session
 * @param maxTransferBytes maximum data length of one command, reported in the Block Limits page
 * @param maxBufferBytes memory for the data of all commands; beyond it commands end with BUSY
 * @param maxBufferBytesPerSession maximum memory for the data of one session
 * @param maxQueuedBytes maximum size of responses that a peer has not received yet; beyond it the connection is not
 *        read
 * @param idleMs time after which a silent connection is pinged; it is closed after being silent for as long again
 * @param abortTimeoutMs time for a device to complete an aborted command, which is then fenced and detached; a request
 *        that waits for it is answered within twice this time, or 2 s later
 */
public record ServerLimits(int maxConnections, int maxConnectionsPerAddress, long loginTimeoutMs,
        int commandsPerSession, int immediateCommandsPerSession, int maxTransferBytes,
        long maxBufferBytes, long maxBufferBytesPerSession, long maxQueuedBytes,
        long idleMs, long abortTimeoutMs) {
    /** Time to detach commands on a busy event loop. */
    private static final long LEAVING_MS = 2_000;

    /** Memory of a response that is copied for sending: data up to 8 KiB, headers, and the unused rest of a buffer. */
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

    /** Returns how long a response waits for commands to end: longer than it takes to detach one of them. */
    public long answerTimeoutMs() {
        return abortTimeoutMs + Math.max(abortTimeoutMs, LEAVING_MS);
    }

    /** Returns the limit of connections outside normal sessions, in addition to {@code maxConnections}. */
    public int maxPendingConnections() {
        return Math.clamp(maxConnections / 4, LEAST_PENDING, MOST_PENDING);
    }

    /** Returns the limit of pending connections of one origin. */
    public int maxPendingOfOrigin() {
        return maxPendingConnections() / 4;
    }

    /**
     * Returns the limit of short responses queued on a connection, in bytes of memory; beyond it the peer is not read.
     * A full command window never reaches it.
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
            throw new IllegalArgumentException("server limit out of range: " + this);
        }
    }
}
