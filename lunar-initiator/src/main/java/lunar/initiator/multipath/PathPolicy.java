package lunar.initiator.multipath;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;

/**
 * Chooses the path of a request. A custom policy is a lambda:
 *
 * {@snippet :
 * PathPolicy byRegion = (paths, request) -> paths.get((int) (request.lba() >>> 20) % paths.size());
 *
 * PathPolicy readsOnTheFirst = (paths, request) -> request.operation() == BlockRequest.Operation.READ
 *         ? paths.getFirst()
 *         : paths.getLast();
 * }
 */
@FunctionalInterface
public interface PathPolicy {
    /**
     * Chooses a path for a request. Called by any thread for each request: must not block.
     *
     * @param usable at least one path: those that are up and, with ALUA, in the best access state; in configuration
     *        order
     * @param request the request to send; must not be modified or kept
     * @return one of them
     */
    Path choose(List<? extends Path> usable, BlockRequest request);

    /** Returns a policy that uses the paths in turn. */
    static PathPolicy roundRobin() {
        var turn = new AtomicInteger();
        return (usable, _) -> usable
                .get(Integer.remainderUnsigned(turn.getAndIncrement(), usable.size()));
    }

    /** Returns a policy that chooses the path with the fewest requests in flight. */
    static PathPolicy leastQueue() {
        return (usable, _) -> least(usable, Path::inFlight);
    }

    /** Returns a policy that chooses the path with the shortest expected time, by its queue and its service time. */
    static PathPolicy serviceTime() {
        return (usable, _) -> least(usable,
                path -> (path.inFlight() + 1L) * Math.max(1, path.serviceNanos()));
    }

    /** Returns a policy that uses the first usable path: others stand by, and requests return to it when it is back. */
    static PathPolicy fixed() {
        return (usable, _) -> usable.getFirst();
    }

    private static Path least(List<? extends Path> usable,
            java.util.function.ToLongFunction<Path> load) {
        Path best = usable.getFirst();
        long least = load.applyAsLong(best);
        for (int i = 1; i < usable.size(); i++) {
            long value = load.applyAsLong(usable.get(i));
            if (value < least) {
                least = value;
                best = usable.get(i);
            }
        }
        return best;
    }
}
