/**
 * Certificates and keys of TLS 1.3 in PEM files: {@link lunar.tls.CertifiedKey} is a certificate chain with its private
 * key, {@link lunar.tls.TlsContext} creates a context from it and from trusted certificates. Uses the JDK alone. Each
 * error is one line for the operator that names the file, and contains no part of a key.
 */
@NullMarked
package lunar.tls;

import org.jspecify.annotations.NullMarked;
