/**
 * An iSCSI target server: {@link lunar.target.TargetServer} listens on portals and serves the block devices of
 * its {@link lunar.target.TargetSpec}s as LUNs.
 *
 * <p>Inside: a {@code Connection} is in its {@code LoginPhase}, then in {@code FullFeature}; a {@code Session} is
 * one I_T nexus; a {@code Task} is one SCSI command, which {@code CommandIntake} takes in and {@code Execution} has at
 * a device. Who executes it stands in {@code lunar.target.device}. READ and WRITE allocate nothing on their way.
 *
 * <p>Threading: a session with all its state belongs to the event loop of its connection. Devices complete on
 * whatever thread they like; the task then goes back to its loop. Sessions meet in {@code Sessions}, which is
 * thread-safe, and in {@code LogicalUnit} and {@code Nexus}, which are too.
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
