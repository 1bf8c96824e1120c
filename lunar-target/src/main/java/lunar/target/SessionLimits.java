package lunar.target;

/**
 * How many sessions there may be; one more is refused with "out of resources".
 *
 * @param perServer normal sessions of the server
 * @param perTarget of each of its targets
 * @param perInitiator of one initiator at one target
 */
public record SessionLimits(int perServer, int perTarget, int perInitiator) {
    /** As many as there are TSIHs for. */
    public static final SessionLimits DEFAULT = new SessionLimits(0xffff, 0xffff, 0xffff);

    public SessionLimits {
        if (perServer < 1 || perServer > 0xffff || perTarget < 1 || perInitiator < 1) {
            throw new IllegalArgumentException("a limit of sessions is out of range: " + perServer
                    + ", " + perTarget + ", " + perInitiator);
        }
    }
}
