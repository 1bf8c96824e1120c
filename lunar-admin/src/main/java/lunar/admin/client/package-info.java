/**
 * A client of the admin API: {@link lunar.admin.client.AdminClient} sends one request for each call, over a Unix
 * socket, TCP or TLS. Blocking, thread-safe.
 */
@NullMarked
package lunar.admin.client;

import org.jspecify.annotations.NullMarked;
