package lunar.filter;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Check value that identifies the key of an encrypted device without revealing it: a random salt and the first half of
 * an HMAC-SHA-256 over it under the key. While a key is being replaced there are two such values, and either key is
 * accepted, because a crash may leave either in the key file.
 *
 * <p>As text: {@code 1 SALT:MAC} or {@code 1 SALT:MAC SALT:MAC}, in hexadecimal digits.
 */
record KeyCheck(List<Value> values) {
    static final String LABEL = "key-check";

    private static final String VERSION = "1";
    private static final int BYTES = 16;
    private static final int MAX_VALUES = 2;
    private static final byte[] PURPOSE = "lunar key check 1".getBytes(StandardCharsets.US_ASCII);

    /** A salt and what follows from it under the key. */
    record Value(String salt, String mac) {
        static Value of(byte[] key) {
            byte[] salt = new byte[BYTES];
            new SecureRandom().nextBytes(salt);
            return new Value(HexFormat.of().formatHex(salt), mac(key, salt));
        }

        boolean matches(byte[] key) {
            return MessageDigest.isEqual(mac.getBytes(StandardCharsets.US_ASCII),
                    mac(key, HexFormat.of().parseHex(salt)).getBytes(StandardCharsets.US_ASCII));
        }

        private static String mac(byte[] key, byte[] salt) {
            try {
                Mac hmac = Mac.getInstance("HmacSHA256");
                hmac.init(new SecretKeySpec(key, "HmacSHA256"));
                hmac.update(PURPOSE);
                return HexFormat.of().formatHex(hmac.doFinal(salt), 0, BYTES);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java has HmacSHA256", e);
            }
        }

        @Override
        public String toString() { return salt + ":" + mac; }
    }

    KeyCheck {
        values = List.copyOf(values);
    }

    /** The check value of a key. */
    static KeyCheck of(byte[] key) {
        return new KeyCheck(List.of(Value.of(key)));
    }

    /**
     * Reads the text of a check value.
     *
     * @throws IllegalArgumentException if it is none
     */
    static KeyCheck parse(String text) {
        String[] parts = text.split(" ", -1);
        if (!parts[0].equals(VERSION) || parts.length < 2 || parts.length > MAX_VALUES + 1) {
            throw new IllegalArgumentException("not a check value of a key");
        }
        var values = new ArrayList<Value>();
        for (String part : List.of(parts).subList(1, parts.length)) {
            if (!part.matches("[0-9a-f]{" + 2 * BYTES + "}:[0-9a-f]{" + 2 * BYTES + "}")) {
                throw new IllegalArgumentException("not a check value of a key");
            }
            values.add(new Value(part.substring(0, 2 * BYTES), part.substring(2 * BYTES + 1)));
        }
        return new KeyCheck(values);
    }

    boolean matches(byte[] key) { return values.stream().anyMatch(value -> value.matches(key)); }

    /** Whether it says which of two keys it was to be, or one only. */
    boolean isSettled() {
        return values.size() == 1;
    }

    /** The check value for the time in which one key replaces another. */
    static KeyCheck ofEither(byte[] before, byte[] after) {
        return new KeyCheck(List.of(Value.of(before), Value.of(after)));
    }

    @Override
    public String toString() {
        return VERSION + " " + String.join(" ", values.stream().map(Value::toString).toList());
    }
}
