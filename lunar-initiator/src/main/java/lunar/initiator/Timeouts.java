package lunar.initiator;

/**
 * Timeouts of a session, all in milliseconds and above 0.
 *
 * @param connectMs for the transport's connection
 * @param loginMs for the whole login, each time it is redirected; for a discovery after its login, too
 * @param commandMs for a command, from its submission on, with its time in the queue and all its retries
 * @param abortMs for the answer to the task management that aborts a command; then the session is given up
 * @param logoutMs for the logout
 * @param keepAliveMs of silence after which the target is pinged; after as much again the session is given up
 */
public record Timeouts(int connectMs, int loginMs, int commandMs, int abortMs, int logoutMs,
        int keepAliveMs) {
    /** Defaults, for a target on the same campus. */
    public static final Timeouts DEFAULT = new Timeouts(5_000, 10_000, 30_000, 5_000, 5_000,
            5_000);

    public Timeouts {
        if (connectMs <= 0 || loginMs <= 0 || commandMs <= 0 || abortMs <= 0 || logoutMs <= 0
                || keepAliveMs <= 0) {
            throw new IllegalArgumentException("a timeout must be above 0 ms");
        }
    }

    /** Returns these timeouts with another time to connect. */
    public Timeouts withConnectMs(int value) {
        return new Timeouts(value, loginMs, commandMs, abortMs, logoutMs, keepAliveMs);
    }

    /** Returns these timeouts with another time for a login. */
    public Timeouts withLoginMs(int value) {
        return new Timeouts(connectMs, value, commandMs, abortMs, logoutMs, keepAliveMs);
    }

    /** Returns these timeouts with another time for a command. */
    public Timeouts withCommandMs(int value) {
        return new Timeouts(connectMs, loginMs, value, abortMs, logoutMs, keepAliveMs);
    }

    /** Returns these timeouts with another time for an abort. */
    public Timeouts withAbortMs(int value) {
        return new Timeouts(connectMs, loginMs, commandMs, value, logoutMs, keepAliveMs);
    }

    /** Returns these timeouts with another time for a logout. */
    public Timeouts withLogoutMs(int value) {
        return new Timeouts(connectMs, loginMs, commandMs, abortMs, value, keepAliveMs);
    }

    /** Returns these timeouts with another time of silence. */
    public Timeouts withKeepAliveMs(int value) {
        return new Timeouts(connectMs, loginMs, commandMs, abortMs, logoutMs, value);
    }
}
