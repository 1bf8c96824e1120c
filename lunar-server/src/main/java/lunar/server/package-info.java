/**
 * Serves block devices to iSCSI initiators: what {@code lunar serve} does, as a library.
 *
 * <pre>{@code
 * var disk = List.of("file:disk.img?size=10GiB");
 * var target = ServerPlan.Target.of("iqn.2026-11.org.example:disk", disk);
 * var portals = List.of(ServerPlan.Listen.on("127.0.0.1", 3260));
 * var plan = ServerPlan.of(portals, List.of(target));
 * try (StorageServer server = StorageServer.start(plan)) {
 *     runApplication(); // server.reload(another) at any time
 * }
 * }</pre>
 *
 * <p>A {@link lunar.server.ServerPlan} describes what to serve, a {@link lunar.server.StorageServer} serves it, and
 * {@link lunar.server.StorageServer#reload} applies another plan without disturbing sessions.
 * {@link lunar.server.StorageServer#change} changes a LUN until the server ends. The server owns its threads and the
 * devices that it opens.
 */
@NullMarked
package lunar.server;

import org.jspecify.annotations.NullMarked;
