package lunar.raid;

/** Stripes, as those of the dirty regions of a bitmap. Must not change while a volume has it. */
@FunctionalInterface
public interface StripeSet {
    /** What {@link #next} says where there is none. */
    long NONE = Long.MAX_VALUE;

    /** All stripes. */
    StripeSet ALL = from -> from;

    /** No stripe. */
    StripeSet EMPTY = _ -> NONE;

    /** The first stripe of the set that is not before {@code from}, or {@link #NONE}. */
    long next(long from);

    /** Whether a stripe belongs to the set. */
    default boolean contains(long stripe) {
        return next(stripe) == stripe;
    }
}
