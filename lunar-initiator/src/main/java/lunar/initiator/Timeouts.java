package lunar.initiator;

/**
 * Timeouts of a session, all in milliseconds and above 0. The options of an {@link IscsiUri} set them, too.
 *
 * @param connectMs for the transport's connection to a portal; the resolution of a host's name is not limited
 * @param loginMs for the whole login over that connection, restarted by a redirection; also for a discovery after its
 *        login
 * @param commandMs for a command, from its submission, including queueing and all retries
 * @param abortMs for the response to the task management function that aborts a command; then the session is dropped
 * @param logoutMs for the logout
 * @param keepAliveMs silence after which the target is pinged; after as long again the session is dropped
 */
public record Timeouts(int connectMs, int loginMs, int commandMs, int abortMs, int logoutMs,
        int keepAliveMs) {
    /** Defaults, for a target on the same campus. */
    public static final Timeouts DEFAULT = new Timeouts(5_000, 10_000, 30_000, 5_000, 5_000,
            5_000);

    public Timeouts {
        if (connectMs <= 0 || loginMs <= 0 || commandMs <= 0 || abortMs <= 0 || logoutMs <= 0
                || keepAliveMs <= 0) {
            throw new IllegalArgumentException("timeouts must be greater than 0 ms");
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
