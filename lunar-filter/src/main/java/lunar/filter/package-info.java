/**
 * Filters: block devices over a block device, which they own. Device URIs name them before the device, and
 * {@link lunar.filter.StandardFilters} parses them; code creates them by their constructors.
 *
 * <ul>
 * <li>{@link lunar.filter.CacheFilter}: a write-through cache with read-ahead; {@link lunar.filter.CachePolicy} decides
 * about eviction.
 * <li>{@link lunar.filter.EncryptFilter}: XTS-AES-256 with a {@link lunar.filter.KeyFile}.
 * <li>{@link lunar.filter.ScheduleFilter}: orders and merges requests by a {@link lunar.filter.RequestScheduler}.
 * <li>{@link lunar.filter.ThrottleFilter}, {@link lunar.filter.DelayFilter}: a slower device.
 * <li>{@link lunar.filter.FaultFilter} with a {@link lunar.filter.FaultPlan}, {@link lunar.filter.VolatileFilter}: a
 * device that fails, or that loses its write cache, for tests.
 * <li>{@link lunar.filter.VerifyFilter}, {@link lunar.filter.TraceFilter}: check and log what passes.
 * </ul>
 *
 * <p>Threading: like any {@link lunar.block.BlockDevice}, a filter may be used by any number of threads at once.
 */
@NullMarked
package lunar.filter;

import org.jspecify.annotations.NullMarked;
