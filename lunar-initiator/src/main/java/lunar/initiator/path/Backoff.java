package lunar.initiator.path;

/**
 * How long to wait before the next login: longer each time, as long as logins fail or what they bring does not last. A
 * session that was of use for as long as the pause before it has paid for it, and the next pause is short again: on a
 * bad line there is more work than waiting, and nobody spins at a target that throws sessions out. Not thread-safe.
 */
final class Backoff {
    private final int shortestMs;
    private final int longestMs;
    private int pauseMs;

    Backoff(int shortestMs, int longestMs) {
        this.shortestMs = shortestMs;
        this.longestMs = longestMs;
    }

    /**
     * The next pause, in milliseconds.
     *
     * @param usedMs how long the session could be used that was before it; 0 where the login failed
     */
    int next(long usedMs) {
        boolean paid = pauseMs == 0 || usedMs >= pauseMs;
        pauseMs = paid ? shortestMs : (int) Math.min(longestMs, 2L * pauseMs);
        return pauseMs;
    }
}
