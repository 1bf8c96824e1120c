package lunar.iscsi;

/**
 * How much a peer may say in one login.
 *
 * @param turns most requests (or responses) in one login
 * @param textBytes most bytes of text in one login
 * @param keys most key=value pairs in one login
 */
public record LoginLimits(int turns, int textBytes, int keys) {
    /** Far more than any known peer needs. */
    public static final LoginLimits DEFAULT = new LoginLimits(64, 64 << 10, 256);

    public LoginLimits {
        if (turns < 1 || textBytes < 1 || keys < 1) {
            throw new IllegalArgumentException("a login limit below 1");
        }
    }
}
