/**
 * The admin API of a running {@link lunar.server.StorageServer}: status, sessions, LUNs and volumes as JSON over HTTP,
 * on a Unix socket that only the user of the process can use, and optionally on TCP with a bearer token, and TLS.
 *
 * {@snippet :
 * try (var admin = AdminServer.start(AdminOptions.ofSocket(Path.of("/run/lunar/admin.sock")), server)) {
 *     runApplication();
 * }
 * }
 *
 * <p>{@link lunar.admin.AdminServer} listens, {@link lunar.admin.report.Administered} is what it asks and changes, and
 * {@link lunar.admin.client.AdminClient} is its client. The routes are described by
 * {@code lunar/admin/http/openapi.json}, which the server returns at {@code /v1/openapi.json}. Requests are handled by
 * virtual threads of their own and never run on the threads that serve commands.
 */
@NullMarked
package lunar.admin;

import org.jspecify.annotations.NullMarked;
