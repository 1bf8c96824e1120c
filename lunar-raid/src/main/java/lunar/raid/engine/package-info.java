/**
 * The engine of a volume: performs requests and scans by requests to the members. Not exported.
 *
 * <p>{@link lunar.raid.engine.VolumeEngine} is the volume: it admits requests, and manages members and scans. A {@code
 * Migration} is a volume between two layouts, and a {@code ReshapeScan} moves blocks from one to the other. The
 * packages below build on each other in this order: {@link lunar.raid.engine.member} (members and their states), {@link
 * lunar.raid.engine.stripe} (requests to stripes) and {@link lunar.raid.engine.scan} (rebuild, resync, scrub).
 *
 * <p>Threading: no thread and no clock. Work continues on the threads on which members complete requests; the clock of
 * the component that runs the volume calls {@link lunar.raid.engine.VolumeEngine#tick}. Callbacks run while no lock is
 * held.
 */
@NullMarked
package lunar.raid.engine;

import org.jspecify.annotations.NullMarked;
