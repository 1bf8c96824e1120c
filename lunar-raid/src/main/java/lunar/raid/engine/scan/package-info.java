/**
 * Scans over the stripes of a volume, concurrent with its requests: rebuild, resync and scrub. Not exported.
 *
 * <p>{@link lunar.raid.engine.scan.VolumeScan} has the state of any scan, {@link lunar.raid.engine.scan.StripeScan}
 * locks batches of stripes; each of {@link lunar.raid.engine.scan.RebuildScan}, {@link
 * lunar.raid.engine.scan.ResyncScan} and {@link lunar.raid.engine.scan.ScrubScan} says what to do with a stripe.
 *
 * <p>Threading: one thread at a time runs a scan: the one that ends the last request of a step, or that of its {@link
 * lunar.raid.Pace}. Its progress can be read by any thread.
 */
@NullMarked
package lunar.raid.engine.scan;

import org.jspecify.annotations.NullMarked;
