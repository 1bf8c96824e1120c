package lunar.raid.engine.scan;

import lunar.raid.StripeSet;

/** A set of stripes that is set after the scan over it has been created. */
public final class DeferredStripeSet implements StripeSet {
    private volatile StripeSet stripes = StripeSet.ALL;

    public void are(StripeSet set) { stripes = set; }

    @Override
    public long next(long from) { return stripes.next(from); }
}
