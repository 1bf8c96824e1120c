package lunar.initiator.internal.session;

/**
 * Counts responses that a target has requested and that are still queued for it, up to a limit, because a target that
 * requests responses without receiving them could fill the memory. Tracks the end of each response in the output.
 * Guarded by the lock of {@link Tasks}. Allocates nothing once it has seen the load.
 */
public final class UnsentAnswers {
    private static final int FEW = 2;

    private final int limit;
    private long[] ends;
    private int first;
    private int count;

    public UnsentAnswers(int limit) {
        this.limit = limit;
        ends = new long[Math.min(limit, FEW)];
    }

    /**
     * Adds a queued response.
     *
     * @param end bytes queued on the connection so far, including the response
     * @param sent bytes of these that the network has accepted
     * @return false if it would exceed the limit and is not counted
     */
    public boolean add(long end, long sent) {
        while (count > 0 && ends[first] <= sent) {
            first = (first + 1) % ends.length;
            count--;
        }
        if (count == limit) {
            return false;
        }
        if (count == ends.length) {
            long[] more = new long[(int) Math.min(limit, 2L * count)];
            System.arraycopy(ends, first, more, 0, count - first);
            System.arraycopy(ends, 0, more, count - first, first);
            ends = more;
            first = 0;
        }
        ends[(first + count) % ends.length] = end;
        count++;
        return true;
    }

    /** Forgets all answers, when the connection or the command starts over. */
    void clear() {
        first = 0;
        count = 0;
    }
}
