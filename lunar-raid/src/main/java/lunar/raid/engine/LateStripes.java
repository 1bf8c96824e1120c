package lunar.raid.engine;

import lunar.raid.StripeSet;

/** A set of stripes that is set after the scan over it has been created. */
final class LateStripes implements StripeSet {
    private volatile StripeSet stripes = StripeSet.ALL;

    void are(StripeSet set) { stripes = set; }

    @Override
    public long next(long from) { return stripes.next(from); }
}
