/**
 * An iSCSI target server: {@link lunar.target.TargetServer} listens on portals and serves the logical units of
 * its {@link lunar.target.TargetSpec}s as LUNs.
 *
 * <p>The other types are immutable: portals, targets, initiators and limits. {@code lunar.target.internal.session}
 * and {@code lunar.target.internal.task} implement sessions and tasks; device servers are in
 * {@code lunar.scsi.target}.
 *
 * <p>Threading: {@code TargetServer} is thread-safe, its {@code Builder} is not.
 *
 * {@snippet :
 * try (var server = TargetServer.builder()
 *         .portal("127.0.0.1", 3260)
 *         .target(TargetSpec.of("iqn.2026-11.org.lunar:demo").withLun(0, Devices.open("ram:1GiB")))
 *         .start()) {
 *     System.in.read();
 * }
 * }
 */
@NullMarked
package lunar.target;

import org.jspecify.annotations.NullMarked;
