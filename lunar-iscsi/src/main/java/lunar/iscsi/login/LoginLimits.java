package lunar.iscsi.login;

/**
 * Limits on a peer's messages in one login or text negotiation.
 *
 * @param turns maximum number of requests (or responses) in one negotiation
 * @param textBytes maximum number of bytes of text in one negotiation
 * @param keys maximum number of key=value pairs in one negotiation
 */
public record LoginLimits(int turns, int textBytes, int keys) {
    /** Far more than any known peer needs. */
    public static final LoginLimits DEFAULT = new LoginLimits(64, 64 << 10, 256);

    /** Limits of the answer to SendTargets, which names every target and portal. */
    public static final LoginLimits DISCOVERY = new LoginLimits(4096, 8 << 20, 1 << 16);

    public LoginLimits {
        if (turns < 1 || textBytes < 1 || keys < 1) {
            throw new IllegalArgumentException("login limits must be at least 1");
        }
    }
}
