/**
 * TLS of the admin API: {@link lunar.admin.tls.ServerTls} does the handshakes of a server, with files that are read
 * again when they change; {@link lunar.admin.tls.PrivateFile} checks who can access files with secrets. Not exported.
 */
@NullMarked
package lunar.admin.tls;

import org.jspecify.annotations.NullMarked;
