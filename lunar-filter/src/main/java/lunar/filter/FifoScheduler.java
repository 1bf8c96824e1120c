package lunar.filter;

import java.util.LinkedHashSet;
import org.jspecify.annotations.Nullable;

/** Schedules requests in order of arrival. */
final class FifoScheduler implements RequestScheduler {
    private final LinkedHashSet<Waiting> waiting = new LinkedHashSet<>();

    @Override
    public void add(Waiting request) { waiting.add(request); }

    @Override
    public @Nullable Waiting next(long nowNanos) {
        return waiting.isEmpty() ? null : waiting.removeFirst();
    }

    @Override
    public void remove(Waiting request) { waiting.remove(request); }

    @Override
    public String toString() { return "fifo"; }
}
