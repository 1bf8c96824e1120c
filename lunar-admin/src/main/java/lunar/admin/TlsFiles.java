package lunar.admin;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Files of the TLS of an admin API over TCP, all in PEM. They are read at the start, and again when they change.
 *
 * @param certificate the certificate chain: that of the server, then that of its issuer, and so on
 * @param key the private key of the server (PKCS#8; RSA, EC, Ed25519 or Ed448), which only its owner can access
 * @param clientCa CAs of which clients must have a certificate; empty if they need none
 */
public record TlsFiles(Path certificate, Path key, Optional<Path> clientCa) {}
