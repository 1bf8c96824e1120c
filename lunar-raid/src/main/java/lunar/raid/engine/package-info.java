/**
 * The engine of a volume: performs requests and scans by requests to the members. Not exported.
 *
 * <p>{@link lunar.raid.engine.VolumeEngine} is the volume. A {@code VolumeRequest} reads directly from members where it
 * can, and otherwise works stripe by stripe: a {@code StripeTask} takes the lock of a stripe, carries out a {@link
 * lunar.raid.layout.Plan} and repairs on the way what cannot be read. {@code Engine} holds what requests and scans
 * share; {@code Membership} has the members and states of the slots, and makes their changes stable before anything
 * relies on them.
 *
 * <p>Threading: no thread and no clock. Work continues on the threads on which members complete requests; the clock of
 * the component that runs the volume calls {@link lunar.raid.engine.VolumeEngine#tick}. Callbacks run while no lock is
 * held.
 */
@NullMarked
package lunar.raid.engine;

import org.jspecify.annotations.NullMarked;
