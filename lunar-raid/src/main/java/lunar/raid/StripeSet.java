package lunar.raid;

/** A set of stripes, such as the dirty regions of a bitmap. Must not change while a volume uses it. */
@FunctionalInterface
public interface StripeSet {
    /** Returned by {@link #next} if there is no further stripe. */
    long NONE = Long.MAX_VALUE;

    /** All stripes. */
    StripeSet ALL = from -> from;

    /** No stripe. */
    StripeSet EMPTY = _ -> NONE;

    /** Returns the first stripe of the set that is not before {@code from}, or {@link #NONE}. */
    long next(long from);

    /** Whether a stripe belongs to the set. */
    default boolean contains(long stripe) {
        return next(stripe) == stripe;
    }
}
