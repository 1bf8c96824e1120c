package lunar.target;

/**
 * Limits on the number of sessions; further logins are rejected with "out of resources". A session that has lost its
 * connections and is kept for its initiator counts, but is ended first if a limit is reached.
 *
 * @param perServer normal sessions of the server
 * @param perTarget sessions of each target
 * @param perInitiator sessions of one initiator at one target
 * @param perAddress sessions from one address, or one IPv6 prefix of 64 bits
 * @param maxTime2WaitSeconds longest DefaultTime2Wait for which tasks are kept; an initiator may negotiate a longer
 *        one, but then nothing is kept for it
 * @param maxTime2RetainSeconds longest DefaultTime2Retain that is negotiated
 */
public record SessionLimits(int perServer, int perTarget, int perInitiator, int perAddress,
        int maxTime2WaitSeconds, int maxTime2RetainSeconds) {
    /** Longest DefaultTime2Wait and DefaultTime2Retain by RFC 7143 (sections 13.15 and 13.16). */
    public static final int MAX_SECONDS = 3600;

    /** Least default limit of an address. */
    private static final int SMALL_SHARE = 64;

    private static final int DEFAULT_WAIT_SECONDS = 5;
    private static final int DEFAULT_RETAIN_SECONDS = 20;

    /** Limits that permit one session per TSIH. */
    public static final SessionLimits DEFAULT = new SessionLimits(0xffff, 0xffff, 0xffff);

    public SessionLimits {
        if (perServer < 1 || perServer > 0xffff || perTarget < 1 || perInitiator < 1
                || perAddress < 1) {
            throw new IllegalArgumentException("session limit out of range: " + perServer
                    + ", " + perTarget + ", " + perInitiator + ", " + perAddress);
        }
        if (maxTime2WaitSeconds < 0 || maxTime2WaitSeconds > MAX_SECONDS
                || maxTime2RetainSeconds < 0 || maxTime2RetainSeconds > MAX_SECONDS) {
            throw new IllegalArgumentException("Time2Wait or Time2Retain limit out of "
                    + "range: " + maxTime2WaitSeconds + ", " + maxTime2RetainSeconds);
        }
    }

    /** Allows each address half of the server's sessions, or 64 if that is more; with the default times. */
    public SessionLimits(int perServer, int perTarget, int perInitiator) {
        this(perServer, perTarget, perInitiator, share(perServer), DEFAULT_WAIT_SECONDS,
                DEFAULT_RETAIN_SECONDS);
    }

    /** Returns a copy with another limit of sessions of the server; the limit of an address stays as it is. */
    public SessionLimits withPerServer(int value) {
        return new SessionLimits(value, perTarget, perInitiator, perAddress, maxTime2WaitSeconds,
                maxTime2RetainSeconds);
    }

    /** Returns a copy with another limit of sessions of each target. */
    public SessionLimits withPerTarget(int value) {
        return new SessionLimits(perServer, value, perInitiator, perAddress, maxTime2WaitSeconds,
                maxTime2RetainSeconds);
    }

    /** Returns a copy with another limit of sessions of one initiator at one target. */
    public SessionLimits withPerInitiator(int value) {
        return new SessionLimits(perServer, perTarget, value, perAddress, maxTime2WaitSeconds,
                maxTime2RetainSeconds);
    }

    /** Returns a copy with another limit of sessions of one address. */
    public SessionLimits withPerAddress(int value) {
        return new SessionLimits(perServer, perTarget, perInitiator, value, maxTime2WaitSeconds,
                maxTime2RetainSeconds);
    }

    /** Returns a copy with another {@link #maxTime2WaitSeconds}. */
    public SessionLimits withMaxTime2WaitSeconds(int value) {
        return new SessionLimits(perServer, perTarget, perInitiator, perAddress, value,
                maxTime2RetainSeconds);
    }

    /** Returns a copy with another {@link #maxTime2RetainSeconds}. */
    public SessionLimits withMaxTime2RetainSeconds(int value) {
        return new SessionLimits(perServer, perTarget, perInitiator, perAddress,
                maxTime2WaitSeconds, value);
    }

    /** Returns the default limit of one address. */
    public static int share(int perServer) {
        return Math.max(SMALL_SHARE, perServer / 2);
    }
}
