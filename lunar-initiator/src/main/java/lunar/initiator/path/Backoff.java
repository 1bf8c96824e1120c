package lunar.initiator.path;

/**
 * Backoff before the next login: longer each time, as long as logins fail or their sessions do not last. After a
 * session that was usable for at least as long as the pause before it, the next pause is short again: on a bad line
 * there is more work than waiting, and no tight loop at a target that throws sessions out. Not thread-safe.
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
     * Returns the next pause, in milliseconds.
     *
     * @param usedMs how long the session before it was usable; 0 where the login failed
     */
    int next(long usedMs) {
        boolean paid = pauseMs == 0 || usedMs >= pauseMs;
        pauseMs = paid ? shortestMs : (int) Math.min(longestMs, 2L * pauseMs);
        return pauseMs;
    }
}
