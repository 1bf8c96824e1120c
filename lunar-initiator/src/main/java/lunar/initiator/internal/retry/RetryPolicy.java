package lunar.initiator.internal.retry;

import lunar.scsi.Bytes;

/**
 * Decides whether and when a failed SCSI command is retried. Used for requests of a LUN, for queries and for the calls
 * of {@link lunar.initiator.scsi.ScsiUnit}; each command has its own instance:
 *
 * <table>
 * <caption>By answer</caption>
 * <tr><th>answer</th><th>performed?</th><th>sent again</th></tr>
 * <tr><td>UNIT ATTENTION, deferred error</td><td>no (SAM-5 section 5.14, SPC-5 section 4.4.7.5)</td>
 * <td>at once, {@value #MAX_ATTENTIONS} times in a row</td></tr>
 * <tr><td>BUSY, TASK SET FULL, ACA ACTIVE; NOT READY that passes by itself (04h, but for 02h, 03h, 0Bh and 0Ch)</td>
 * <td>no</td><td>after pauses of {@value #FIRST_PAUSE_MS} to {@value #MAX_PAUSE_MS} ms, until the time of the command
 * is over</td></tr>
 * <tr><td>ABORTED COMMAND but for ASC 10h, TASK ABORTED, a task that the target has terminated</td><td>perhaps, and it
 * has ended</td><td>if idempotent, after such pauses, {@value #MAX_ABORTS} times</td></tr>
 * <tr><td>none: its connection was lost and the target has ended it; the session continues</td><td>perhaps, and it has
 * ended</td><td>if idempotent, at once, {@value #MAX_LOSSES} times</td></tr>
 * <tr><td>any other</td><td></td><td>never</td></tr>
 * </table>
 *
 * <p>In each of these cases the target has ended the command before it is retried, and its caller has not been
 * notified. Therefore no earlier copy is executed after a later write of a caller that waited for the first. There is
 * no guarantee for other hosts: a write that another host's reset has aborted may be executed after that reset. Hosts
 * that share a unit must fence each other by reservations, not by resets. Commands of a lost session are handled by
 * {@link lunar.initiator.multipath}.
 *
 * <p>Not thread-safe. Allocates nothing.
 */
public final class RetryPolicy {
    /** In place of a pause: the command is not to be sent again. */
    public static final long NEVER = -1;

    public static final int MAX_ATTENTIONS = 16;
    public static final int MAX_ABORTS = 5;
    static final int MAX_LOSSES = 64;
    static final long FIRST_PAUSE_MS = 5;
    static final long MAX_PAUSE_MS = 640;

    /** Unit attentions since the last answer of another kind. */
    private int attentions;
    private int aborts;
    private int losses;
    private final Backoff pauses = new Backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);

    /** Creates a policy for one command. */
    public RetryPolicy() {}

    /** Resets the policy for another command. */
    public void begin() {
        attentions = 0;
        aborts = 0;
        losses = 0;
        pauses.reset();
    }

    /**
     * Returns how long to wait before a command is retried.
     *
     * @param sense empty if the response has none
     * @param idempotent whether the command may be executed twice
     * @param leftMs remaining time of the command; longer pauses are not started
     * @return milliseconds, 0 for immediately, or {@link #NEVER}, also for a successful command
     */
    public long pauseMs(int status, Bytes sense, boolean idempotent, long leftMs) {
        return switch (SenseMapping.disposition(status, sense)) {
            case ATTENTION -> attentions++ < MAX_ATTENTIONS ? 0 : NEVER;
            case BUSY -> rest(leftMs);
            case ABORTED -> aborted(idempotent, leftMs);
            case FINAL -> NEVER;
        };
    }

    /** Returns the pause after a command without an answer, since the target has terminated its task. */
    public long pauseAfterTerminationMs(boolean idempotent, long leftMs) {
        return aborted(idempotent, leftMs);
    }

    /** Returns the pause after a command without an answer, since the target has ended it with its connection. */
    public long pauseAfterLossMs(boolean idempotent) {
        return idempotent && losses++ < MAX_LOSSES ? 0 : NEVER;
    }

    private long aborted(boolean idempotent, long leftMs) {
        return idempotent && aborts++ < MAX_ABORTS ? rest(leftMs) : NEVER;
    }

    private long rest(long leftMs) {
        attentions = 0;
        long pauseMs = pauses.nextMs();
        return pauseMs < leftMs ? pauseMs : NEVER;
    }
}
