package lunar.iscsi.login;

/**
 * How much a peer may say in one login or one text negotiation.
 *
 * @param turns most requests (or responses) in one negotiation
 * @param textBytes most bytes of text in one negotiation
 * @param keys most key=value pairs in one negotiation
 */
public record LoginLimits(int turns, int textBytes, int keys) {
    /** Far more than any known peer needs. */
    public static final LoginLimits DEFAULT = new LoginLimits(64, 64 << 10, 256);

    /** Limits of the answer to SendTargets, which names every target and portal. */
    public static final LoginLimits DISCOVERY = new LoginLimits(4096, 8 << 20, 1 << 16);

    public LoginLimits {
        if (turns < 1 || textBytes < 1 || keys < 1) {
            throw new IllegalArgumentException("a login limit below 1");
        }
    }
}
