package lunar.iscsi.spi;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Names of the PEM files by which one end of a TLS connection authenticates itself and its peer. They are read
 * when a connection is opened, and for a portal by {@link TransportProvider#credentials}. A transport without TLS
 * ignores them.
 *
 * @param authorities certificates that are trusted: of authorities, or of the peer itself. Without them, a client
 *        trusts the authorities of the JDK, and a server does not ask its clients for certificates
 * @param certificate certificate of this end, followed by those of intermediate authorities
 * @param key private key of the certificate, PKCS#8 without a passphrase
 */
public record TlsFiles(Optional<Path> authorities, Optional<Path> certificate,
        Optional<Path> key) {
    /** No files. */
    public static final TlsFiles NONE = new TlsFiles(Optional.empty(), Optional.empty(),
            Optional.empty());

    public TlsFiles {
        if (certificate.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException(
                    "a certificate needs its key, and a key its certificate");
        }
    }

    /** Returns the files of a server, which does not ask its clients for certificates. */
    public static TlsFiles of(Path certificate, Path key) {
        return new TlsFiles(Optional.empty(), Optional.of(certificate), Optional.of(key));
    }

    /** Returns the files of a client without a certificate. */
    public static TlsFiles trusting(Path authorities) {
        return new TlsFiles(Optional.of(authorities), Optional.empty(), Optional.empty());
    }

    /** Returns a copy that trusts the certificates in the given file. */
    public TlsFiles withAuthorities(Path value) {
        return new TlsFiles(Optional.of(value), certificate, key);
    }
}
