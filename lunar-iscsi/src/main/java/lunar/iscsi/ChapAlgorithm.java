package lunar.iscsi;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;

/** Hash functions of CHAP by their CHAP_A numbers (RFC 1994, RFC 7143 section 12.1.3 and the IANA PPP registry). */
public enum ChapAlgorithm {
    MD5(5, "MD5", 16), SHA1(6, "SHA-1", 20), SHA256(7, "SHA-256", 32), SHA3_256(8, "SHA3-256", 32);

    private final int number;
    private final String digestName;
    private final int responseBytes;

    ChapAlgorithm(int number, String digestName, int responseBytes) {
        this.number = number;
        this.digestName = digestName;
        this.responseBytes = responseBytes;
    }

    /** The number in CHAP_A. */
    public int number() { return number; }

    /** Length of a response. */
    public int responseBytes() { return responseBytes; }

    /** The algorithm of a CHAP_A number; empty for others. */
    public static Optional<ChapAlgorithm> of(long number) {
        for (var algorithm : values()) {
            if (algorithm.number == number) {
                return Optional.of(algorithm);
            }
        }
        return Optional.empty();
    }

    /** Whether this Java has the hash: MD5 is missing in some hardened ones. */
    public boolean isAvailable() {
        try {
            MessageDigest.getInstance(digestName);
            return true;
        } catch (NoSuchAlgorithmException _) {
            return false;
        }
    }

    /** The response to a challenge: hash of identifier, secret and challenge (RFC 1994 section 4.1). */
    public byte[] response(int identifier, Secret secret, byte[] challenge) {
        try {
            var digest = MessageDigest.getInstance(digestName);
            digest.update((byte) identifier);
            secret.update(digest);
            return digest.digest(challenge);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("CHAP with " + digestName, e);
        }
    }

    /** Whether a response is right; takes as long for a wrong one. */
    public boolean verify(int identifier, Secret secret, byte[] challenge, byte[] response) {
        return MessageDigest.isEqual(response(identifier, secret, challenge), response);
    }
}
