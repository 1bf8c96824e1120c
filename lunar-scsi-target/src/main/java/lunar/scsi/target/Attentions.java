package lunar.scsi.target;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import lunar.scsi.AdditionalSense;
import org.jspecify.annotations.Nullable;

/** Unit attention conditions of one nexus at one logical unit, oldest first (SAM-5 section 5.14). Thread-safe. */
final class Attentions {
    /** Maximum number of pending conditions; further ones would tell the host nothing new. */
    private static final int MAX_PENDING = 16;

    private final Deque<AdditionalSense> pending = new ArrayDeque<>();
    private volatile boolean any;

    /** @param first condition that is reported first to a new nexus; null for none */
    Attentions(@Nullable AdditionalSense first) {
        if (first != null) {
            pending.add(first);
        }
        any = first != null;
    }

    synchronized void establish(AdditionalSense condition) {
        if (pending.size() < MAX_PENDING && !pending.contains(condition)) {
            pending.add(condition);
            any = true;
        }
    }

    /** Clears a condition that the nexus has learned of in another way. */
    synchronized void clear(AdditionalSense condition) {
        pending.remove(condition);
        any = !pending.isEmpty();
    }

    /**
     * Returns the oldest condition, which stays pending, and whether more are pending (SAM-5 section 7.10).
     */
    synchronized Optional<PendingAttention> pending() {
        return Optional.ofNullable(pending.peek())
                .map(oldest -> new PendingAttention(oldest, pending.size() > 1));
    }

    @Nullable
    AdditionalSense take() { return any ? poll() : null; }

    private synchronized @Nullable AdditionalSense poll() {
        AdditionalSense oldest = pending.poll();
        any = !pending.isEmpty();
        return oldest;
    }
}
