package lunar.initiator.path;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;

/**
 * Chooses the path of a request. One of one's own is a method:
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
     * Chooses.
     *
     * @param usable at least one path: those that are up and, where ALUA is looked at, in the best state there is; in
     *        the order in which the paths were given
     * @param request what is to be sent; not to be changed or kept
     * @return one of them. Called by any thread for each request: must not block
     */
    Path choose(List<? extends Path> usable, BlockRequest request);

    /** Each in its turn. */
    static PathPolicy roundRobin() {
        var turn = new AtomicInteger();
        return (usable, _) -> usable
                .get(Integer.remainderUnsigned(turn.getAndIncrement(), usable.size()));
    }

    /** The one with the fewest requests on their way. */
    static PathPolicy leastQueue() {
        return (usable, _) -> least(usable, Path::inFlight);
    }

    /** The one where the request should end soonest, by the queue there and the time that requests have taken. */
    static PathPolicy serviceTime() {
        return (usable, _) -> least(usable,
                path -> (path.inFlight() + 1L) * Math.max(1, path.serviceNanos()));
    }

    /** The first that is usable: others stand by, and it has them all again when it is back. */
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
