/**
 * Requests to a volume in one layout, stripe by stripe. Not exported.
 *
 * <p>A {@link lunar.raid.engine.stripe.VolumeRequest} reads directly from members where it can, and otherwise works
 * stripe by stripe: a {@link lunar.raid.engine.stripe.StripeTask} takes the lock of a stripe, carries out a {@link
 * lunar.raid.layout.Plan}, repairs on the way what cannot be read, and rolls back a write for which a member had no
 * space. {@link lunar.raid.engine.stripe.StripeEngine} has the state that requests and scans share.
 *
 * <p>Threading: the engine, its locks and pools are for any thread. One thread at a time runs a task.
 */
@NullMarked
package lunar.raid.engine.stripe;

import org.jspecify.annotations.NullMarked;
