package lunar.raid.metadata;

import lunar.raid.FailurePolicy;
import org.jspecify.annotations.Nullable;

/**
 * How a volume is opened.
 *
 * @param policy when a member is given up that does not take metadata; the same as the volume's
 * @param journalReset consent to go on without the journal, which is lost; null where it is there, or none is
 * @param verifies whether a volume with checksums compares what it reads for its host, too
 */
public record OpenOptions(FailurePolicy policy, @Nullable JournalReset journalReset,
        boolean verifies) {
    /** Default policy, without a journal reset or verified reads. */
    public static final OpenOptions DEFAULT = new OpenOptions(FailurePolicy.DEFAULT, null,
            false);

    public OpenOptions withPolicy(FailurePolicy other) {
        return new OpenOptions(other, journalReset, verifies);
    }

    public OpenOptions withJournalReset(JournalReset other) {
        return new OpenOptions(policy, other, verifies);
    }

    OpenOptions withoutJournalReset() { return new OpenOptions(policy, null, verifies); }

    public OpenOptions withVerifies(boolean other) {
        return new OpenOptions(policy, journalReset, other);
    }
}
