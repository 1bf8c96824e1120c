/**
 * An iSCSI target server: {@link lunar.target.TargetServer} listens on portals and serves the logical units of
 * its {@link lunar.target.TargetSpec}s as LUNs.
 *
 * <p>Inside: a {@code Connection} is in its {@code LoginPhase}, then in {@code FullFeature}; a {@code Session} is
 * one I_T nexus; a {@code Task} is one SCSI command, which {@code CommandIntake} takes in and {@code Execution} submits
 * to a device. Its device server is in {@code lunar.scsi.target}. READ and WRITE allocate nothing.
 *
 * <p>Threading: a session with all its state is confined to the thread of its connections' event loop. Devices complete
 * requests on any thread; the task then returns to its loop. Sessions interact through {@code Sessions}, {@code
 * LogicalUnit} and {@code Nexus}, which are thread-safe.
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
