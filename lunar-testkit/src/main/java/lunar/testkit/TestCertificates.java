package lunar.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import lunar.iscsi.spi.TlsFiles;

/**
 * Certificates and keys of tests, in PEM, in a directory of a test. All are published, so nothing but tests may trust
 * them, and valid from 2020 to 2119, if not said otherwise:
 *
 * <ul>
 * <li>{@code ca.pem}, {@code other-ca.pem}: two CAs
 * <li>{@code server}, {@code renewed}: servers localhost, 127.0.0.1 and ::1, of EC and RSA, from the first CA
 * <li>{@code elsewhere}: server elsewhere.example, from the first CA
 * <li>{@code other}: server elsewhere.example, self-signed, of RSA
 * <li>{@code expired.pem}: for the key of {@code server}, until 2021
 * <li>{@code client}, {@code stranger}: clients, from the first and the other CA
 * <li>{@code server-encrypted.key}, {@code server-sec1.key}, {@code renewed-pkcs1.key}: keys in other formats
 * </ul>
 *
 * @param directory where the files are
 */
public record TestCertificates(Path directory) {
    private static final List<String> NAMES = List.of("ca.pem", "other-ca.pem", "server.pem",
            "server.key", "renewed.pem", "renewed.key", "elsewhere.pem", "elsewhere.key",
            "other.pem", "other.key", "expired.pem", "client.pem", "client.key", "stranger.pem",
            "stranger.key", "server-encrypted.key", "server-sec1.key", "renewed-pkcs1.key");

    /** Writes all files; no other user can read the keys. */
    public static TestCertificates in(Path directory) {
        NAMES.forEach(name -> write(name, directory.resolve(name)));
        return new TestCertificates(directory);
    }

    /** Writes one of the files to a path, in place of what is there. */
    public static void write(String name, Path file) {
        try (InputStream in = Objects.requireNonNull(
                TestCertificates.class.getResourceAsStream("tls/" + name), name)) {
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
            if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.setPosixFilePermissions(file, PosixFilePermissions
                        .fromString(name.endsWith(".key") ? "rw-------" : "rw-r--r--"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a file by its name. */
    public Path file(String name) {
        return directory.resolve(name);
    }

    /** Returns the files of an end with a certificate of this name, which trusts nobody in particular. */
    public TlsFiles own(String name) {
        return TlsFiles.of(file(name + ".pem"), file(name + ".key"));
    }

    /** Returns the files of a client that trusts the first CA and has no certificate. */
    public TlsFiles trusting() {
        return TlsFiles.trusting(file("ca.pem"));
    }

    /** Returns the files of a client that trusts the first CA and has a certificate. */
    public TlsFiles mutual() {
        return new TlsFiles(Optional.of(file("ca.pem")), Optional.of(file("client.pem")),
                Optional.of(file("client.key")));
    }
}
