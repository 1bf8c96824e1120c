/**
 * Multipath access to a logical unit as a {@link lunar.block.BlockDevice}: session recovery, failover, failback, and
 * load balancing by a standard or custom policy.
 *
 * {@snippet :
 * var paths = List.of(SessionOptions.of("10.0.1.1", 3260, target), SessionOptions.of("10.0.2.1", 3260, target));
 * try (var initiator = Initiator.create("iqn.2026-11.org.example:host1");
 *      var disk = MultipathDevice.open(initiator,
 *              MultipathOptions.of(paths, Lun.ZERO).withPolicy(PathPolicy.serviceTime()))) {
 *     disk.read(0, buffer);
 * }
 * }
 *
 * <p>Threading: any thread may use the device. Each path has its own virtual thread, which logs in and otherwise
 * sleeps. Completions run on the event loops of sessions, or on that thread after a path has come up.
 */
@NullMarked
package lunar.initiator.multipath;

import org.jspecify.annotations.NullMarked;
