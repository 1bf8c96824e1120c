package lunar.raid;

/**
 * Decides when a member is failed.
 *
 * @param retries how often a request is sent again that may succeed then ({@code StorageException.retryable})
 * @param maxRepairs ranges that are repaired on one member before it is failed instead
 * @param stallTicks ticks of the volume's clock that a member request may take before its member is failed, and
 *        closed so that the request ends; 0 for no limit
 */
public record FailurePolicy(int retries, long maxRepairs, int stallTicks) {
    /** Two retries, a thousand repairs, no stall limit: an initiator has its own deadlines. */
    public static final FailurePolicy DEFAULT = new FailurePolicy(2, 1000, 0);

    public FailurePolicy {
        if (retries < 0 || maxRepairs < 0 || stallTicks < 0) {
            throw new IllegalArgumentException("negative limits");
        }
    }
}
