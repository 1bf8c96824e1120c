/**
 * TLS of the admin API: {@link lunar.admin.tls.PemFile} reads certificates and keys, {@link lunar.admin.tls.Identity}
 * is a certificate with its key, and {@link lunar.admin.tls.ServerTls} does the handshakes of a server, with files that
 * are read again when they change. Not exported. Uses the JDK alone.
 */
@NullMarked
package lunar.admin.tls;

import org.jspecify.annotations.NullMarked;
