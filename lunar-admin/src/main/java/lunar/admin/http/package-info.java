/**
 * The HTTP side of the admin API: {@link lunar.admin.http.Listener} is a web server, {@link lunar.admin.http.Api} has
 * its routes. Not exported.
 */
@NullMarked
package lunar.admin.http;

import org.jspecify.annotations.NullMarked;
