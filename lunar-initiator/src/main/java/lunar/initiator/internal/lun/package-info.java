/**
 * A logical unit as a block device: its properties ({@link lunar.initiator.internal.lun.LunProbe}), its requests as
 * commands of a session ({@link lunar.initiator.internal.lun.LunRequests}), and writes that its volatile cache may lose
 * ({@link lunar.initiator.internal.lun.WriteLedger}).
 *
 * <p>Threading: all objects that a device shares between requests are thread-safe.
 */
@NullMarked
package lunar.initiator.internal.lun;

import org.jspecify.annotations.NullMarked;
