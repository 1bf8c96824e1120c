package lunar.raid;

/** A set of stripes that is known later than the scan over it. */
final class LateStripes implements StripeSet {
    private volatile StripeSet stripes = StripeSet.ALL;

    void are(StripeSet set) { stripes = set; }

    @Override
    public long next(long from) { return stripes.next(from); }
}
