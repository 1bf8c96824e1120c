package lunar.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;

/**
 * Certificates and keys of tests, in PEM. All are published and valid from 2020 to 2119, if not said otherwise:
 *
 * <ul>
 * <li>{@code ca.pem}, {@code other-ca.pem}: two CAs
 * <li>{@code server}, {@code renewed}: servers localhost, 127.0.0.1 and ::1, of EC and RSA, from the first CA
 * <li>{@code elsewhere}: server elsewhere.example, from the first CA
 * <li>{@code expired.pem}: for the key of {@code server}, until 2021
 * <li>{@code client}, {@code stranger}: clients, from the first and the other CA
 * <li>{@code server-encrypted.key}, {@code server-sec1.key}, {@code renewed-pkcs1.key}: keys in other formats
 * </ul>
 */
public final class TestCertificates {
    private static final List<String> NAMES = List.of("ca.pem", "other-ca.pem", "server.pem",
            "server.key", "renewed.pem", "renewed.key", "elsewhere.pem", "elsewhere.key",
            "expired.pem", "client.pem", "client.key", "stranger.pem", "stranger.key",
            "server-encrypted.key", "server-sec1.key", "renewed-pkcs1.key");

    private TestCertificates() {}

    /** Writes all files to a directory, the keys with mode 0600. */
    public static void writeTo(Path folder) throws IOException {
        for (String name : NAMES) {
            write(name, folder.resolve(name));
        }
    }

    /** Writes one of the files to a path, in place of what is there. */
    public static void write(String name, Path file) throws IOException {
        try (InputStream in = Objects.requireNonNull(
                TestCertificates.class.getResourceAsStream("tls/" + name), name)) {
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
        }
        Files.setPosixFilePermissions(file,
                PosixFilePermissions.fromString(name.endsWith(".key") ? "rw-------" : "rw-r--r--"));
    }
}
