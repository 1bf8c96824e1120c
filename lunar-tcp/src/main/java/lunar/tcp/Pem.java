package lunar.tcp;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and private keys from PEM files (RFC 7468). Each error is one line that names the file. */
final class Pem {
    private static final int MAX_BYTES = 1 << 20;
    private static final Pattern BLOCK = Pattern
            .compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
    private static final byte[] PROBE = "lunar".getBytes(StandardCharsets.US_ASCII);

    /** A block of a file: the label of its first line, and its content. */
    private record Block(String label, String base64) {
        byte[] content(Path file) throws IOException {
            try {
                return Base64.getMimeDecoder().decode(base64);
            } catch (IllegalArgumentException e) {
                throw new IOException(file + ": the " + label + " is not base64 text", e);
            }
        }
    }

    private Pem() {}

    /** Returns the certificates of a file in their order; at least one. */
    static List<X509Certificate> certificates(Path file) throws IOException {
        var certificates = new ArrayList<X509Certificate>();
        for (Block block : blocks(file)) {
            if (block.label().equals("CERTIFICATE")) {
                certificates.add(certificate(file, block.content(file)));
            }
        }
        if (certificates.isEmpty()) {
            throw new IOException(file + " has no certificate; it must be a PEM file, with the line"
                    + " -----BEGIN CERTIFICATE-----");
        }
        return certificates;
    }

    private static X509Certificate certificate(Path file, byte[] encoded) throws IOException {
        try {
            return (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(encoded));
        } catch (CertificateException e) {
            throw new IOException(file + ": a certificate cannot be decoded", e);
        }
    }

    /**
     * Returns the private key of a file.
     *
     * @param certificate to which it must belong
     */
    static PrivateKey key(Path file, X509Certificate certificate) throws IOException {
        for (Block block : blocks(file)) {
            switch (block.label()) {
                case "PRIVATE KEY" -> {
                    return key(file, block.content(file), certificate);
                }
                case "ENCRYPTED PRIVATE KEY" -> throw new IOException(file
                        + ": the key is encrypted; write a copy without a passphrase with:"
                        + " openssl pkcs8 -in " + file + " -out NEW");
                case "RSA PRIVATE KEY", "EC PRIVATE KEY" -> throw new IOException(file
                        + ": the key is an " + block.label() + ", not PKCS#8; convert it with:"
                        + " openssl pkcs8 -topk8 -nocrypt -in " + file + " -out NEW");
                default -> {
                }
            }
        }
        throw new IOException(file + " has no private key; it must be a PEM file, with the line"
                + " -----BEGIN PRIVATE KEY-----");
    }

    private static PrivateKey key(Path file, byte[] encoded, X509Certificate certificate)
            throws IOException {
        String algorithm = certificate.getPublicKey().getAlgorithm();
        String signature = switch (algorithm) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            case "EdDSA", "Ed25519", "Ed448" -> "EdDSA";
            default -> throw new IOException(file + ": keys of " + algorithm
                    + " are not supported; use RSA, EC or Ed25519");
        };
        try {
            PrivateKey key = KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(encoded));
            if (isOf(certificate, key, signature)) {
                return key;
            }
        } catch (InvalidKeySpecException _) {
            // of another algorithm, so of another certificate
        } catch (GeneralSecurityException e) {
            throw new IOException(file + ": the key cannot be used: " + e.getMessage(), e);
        }
        throw new IOException(file + ": the key does not belong to the certificate");
    }

    private static boolean isOf(X509Certificate certificate, PrivateKey key, String algorithm)
            throws GeneralSecurityException {
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(key);
        signature.update(PROBE);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(PROBE);
        try {
            return signature.verify(signed);
        } catch (SignatureException _) { // of a key of another size or curve
            return false;
        }
    }

    private static List<Block> blocks(Path file) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            throw new IOException(file + " does not exist", e);
        } catch (IOException e) {
            throw new IOException(file + " cannot be read; check its permissions", e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new IOException(file + " is longer than " + MAX_BYTES + " bytes");
        }
        var blocks = new ArrayList<Block>();
        Matcher matcher = BLOCK.matcher(new String(bytes, StandardCharsets.ISO_8859_1));
        while (matcher.find()) {
            blocks.add(new Block(matcher.group(1), matcher.group(2)));
        }
        return blocks;
    }
}
