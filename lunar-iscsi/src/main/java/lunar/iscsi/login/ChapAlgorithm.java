package lunar.iscsi.login;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Hash functions of CHAP by their CHAP_A numbers (RFC 1994, RFC 7143 section 12.1.3 and the IANA PPP registry). */
public enum ChapAlgorithm {
    MD5(5, "MD5", 16), SHA1(6, "SHA-1", 20), SHA256(7, "SHA-256", 32), SHA3_256(8, "SHA3-256", 32);

    /**
     * All algorithms in the default order of an initiator's offer, strongest first, except that SHA-256 is last: older
     * targets (tgt, IET, SCST) interpret its number as SHA-1, and then every secret fails.
     */
    public static final List<ChapAlgorithm> DEFAULT_ORDER = List.of(SHA3_256, SHA1, MD5, SHA256);

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

    /**
     * Parses a list such as {@code sha3-256,sha-256}, in its order. The names are {@code md5}, {@code sha-1},
     * {@code sha-256} and {@code sha3-256}, in any case; {@code sha1} and {@code sha256} are accepted too.
     *
     * @throws IllegalArgumentException with a one-line description of the error
     */
    public static List<ChapAlgorithm> parse(String list) {
        var algorithms = new LinkedHashSet<ChapAlgorithm>();
        for (String name : list.split(",", -1)) {
            ChapAlgorithm named = named(name.strip())
                    .orElseThrow(() -> new IllegalArgumentException(
                            "'" + name.strip() + "' is not a CHAP algorithm; supported: "
                                    + names(List.of(values()))));
            if (!algorithms.add(named)) {
                throw new IllegalArgumentException(
                        "CHAP algorithm " + named.text() + " is named twice");
            }
        }
        return List.copyOf(algorithms);
    }

    private static Optional<ChapAlgorithm> named(String name) {
        return Stream.of(values()).filter(each -> name.equalsIgnoreCase(each.text())
                || name.equalsIgnoreCase(each.text().replaceFirst("^sha-", "sha"))).findFirst();
    }

    /** Its name as people write it, such as {@code sha-256}. */
    public String text() {
        return digestName.toLowerCase(Locale.ROOT);
    }

    /** Names for a message. */
    static String names(List<ChapAlgorithm> algorithms) {
        return String.join(", ", algorithms.stream().map(ChapAlgorithm::text).toList());
    }

    /** Whether this Java has the hash: a hardened one may be without MD5 (FIPS 140). */
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

    /** Verifies a response in constant time. */
    public boolean verify(int identifier, Secret secret, byte[] challenge, byte[] response) {
        return MessageDigest.isEqual(response(identifier, secret, challenge), response);
    }
}
