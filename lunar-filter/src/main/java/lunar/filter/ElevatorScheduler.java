package lunar.filter;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * C-SCAN with a deadline: the next request is the one with the lowest block not below the last one's, or the lowest of
 * all. A request that has waited too long is served first, as in Linux's deadline scheduler, and the sweep continues at
 * its end; after such a jump, {@link #BATCH} requests are served in order before the next one.
 */
final class ElevatorScheduler implements RequestScheduler {
    static final int BATCH = 16;

    /** Requests for the same block go in the order of arrival. */
    private record Place(long lba, long order) {}

    private final TreeMap<Place, Waiting> byPlace = new TreeMap<>(
            Comparator.comparingLong(Place::lba).thenComparingLong(Place::order));
    private final LinkedHashSet<Waiting> byArrival = new LinkedHashSet<>();
    private final long deadlineNanos;
    /** Place of the request chosen last. */
    private Place head = new Place(0, -1);
    private int inOrder = BATCH;

    ElevatorScheduler(long deadlineNanos) { this.deadlineNanos = deadlineNanos; }

    private static Place placeOf(Waiting request) {
        return new Place(request.lba(), request.order());
    }

    @Override
    public void add(Waiting request) {
        byPlace.put(placeOf(request), request);
        byArrival.add(request);
    }

    @Override
    public @Nullable Waiting next(long nowNanos) {
        if (byArrival.isEmpty()) {
            return null;
        }
        Waiting chosen = byArrival.getFirst();
        if (inOrder >= BATCH && nowNanos - chosen.arrivedNanos() >= deadlineNanos) {
            inOrder = 0;
        } else {
            Map.Entry<Place, Waiting> onTheWay = byPlace.higherEntry(head);
            chosen = (onTheWay == null ? byPlace.firstEntry() : onTheWay).getValue();
            inOrder++;
        }
        remove(chosen);
        head = placeOf(chosen);
        return chosen;
    }

    @Override
    public void remove(Waiting request) {
        byPlace.remove(placeOf(request));
        byArrival.remove(request);
    }

    @Override
    public String toString() { return "elevator"; }
}
