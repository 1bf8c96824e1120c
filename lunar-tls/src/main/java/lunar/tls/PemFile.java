package lunar.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads X.509 certificates and private keys (PKCS#8) from a file in PEM (RFC 7468). Text outside the blocks is ignored.
 * No message contains a part of a key.
 *
 * @param title of the file in messages, as {@code "the CA file"}
 */
record PemFile(String title, Path file) {
    private static final int MAX_BYTES = 1 << 20;
    private static final Pattern BLOCK = Pattern
            .compile("-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*)-----END \\1-----");
    private static final String CERTIFICATE = "CERTIFICATE";
    private static final String KEY = "PRIVATE KEY";
    /** Algorithms of keys that TLS 1.3 can sign with. */
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

    /**
     * Reads all certificates of the file, in its order.
     *
     * @return at least one
     * @throws IOException if the file cannot be read, or has none
     */
    List<X509Certificate> certificates() throws IOException {
        var found = new ArrayList<X509Certificate>();
        for (byte[] block : blocks(text(), CERTIFICATE)) {
            try {
                found.add((X509Certificate) CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(block)));
            } catch (CertificateException e) {
                throw new IOException(this + " has a certificate that cannot be read: its number "
                        + (found.size() + 1), e);
            }
        }
        if (found.isEmpty()) {
            throw new IOException(this
                    + " has no certificate: it must be PEM, with '-----BEGIN CERTIFICATE-----'");
        }
        return List.copyOf(found);
    }

    /**
     * Reads the private key of the file.
     *
     * @throws IOException if the file cannot be read, or has no key that is supported
     */
    PrivateKey privateKey() throws IOException {
        String text = text();
        if (has(text, "ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")) {
            throw new IOException(this + " is encrypted, which is not supported: decrypt it with"
                    + " 'openssl pkey -in " + file + " -out NEW'");
        }
        if (has(text, "RSA PRIVATE KEY") || has(text, "EC PRIVATE KEY")) {
            throw new IOException(this + " is not in the format PKCS#8: convert it with"
                    + " 'openssl pkcs8 -topk8 -nocrypt -in " + file + " -out NEW'");
        }
        List<byte[]> keys = blocks(text, KEY);
        if (keys.size() != 1) {
            throw new IOException(this + (keys.isEmpty()
                    ? " has no private key: it must be PEM, with '-----BEGIN PRIVATE KEY-----'"
                    : " has " + keys.size() + " private keys: it must have one"));
        }
        var encoded = new PKCS8EncodedKeySpec(keys.getFirst());
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
            } catch (GeneralSecurityException _) {
                // a key of another algorithm
            }
        }
        throw new IOException(
                this + " has a key that cannot be read: it must be of RSA, EC, Ed25519 or Ed448");
    }

    private static boolean has(String text, String label) {
        return text.contains("-----BEGIN " + label + "-----");
    }

    /** Returns the content of the blocks with a label. */
    private List<byte[]> blocks(String text, String label) throws IOException {
        var found = new ArrayList<byte[]>();
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            if (block.group(1).equals(label)) {
                try {
                    found.add(Base64.getMimeDecoder().decode(block.group(2)));
                } catch (IllegalArgumentException _) { // whose message may have a part of a key
                    throw new IOException(this + " is damaged: what it has after '-----BEGIN "
                            + label + "-----' is not Base64");
                }
            }
        }
        return found;
    }

    private String text() throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (IOException e) {
            throw new IOException(switch (e) {
                case NoSuchFileException _ -> this + " does not exist";
                case AccessDeniedException _ -> "cannot read " + this + ": permission denied";
                default -> "cannot read " + this + ": " + e.getMessage();
            }, e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new IOException(this + " has more than " + MAX_BYTES + " bytes");
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public String toString() { return title + " " + file; }
}
