package lunar.iscsi.text;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import lunar.iscsi.ProtocolException;

/**
 * Key=value pair and the forms that a value can have (RFC 7143 section 6.1).
 *
 * @param key the name, 1 to 63 characters
 * @param value the text after the equals sign
 */
public record KeyValue(String key, String value) {
    /** Longest key name. */
    public static final int MAX_KEY_LENGTH = 63;

    /** Maximum length of a value unless its key defines another one. */
    public static final int MAX_VALUE_BYTES = 255;

    /** Longest binary value, decoded (CHAP_C and CHAP_R). */
    public static final int MAX_BINARY_BYTES = 1024;

    /** Longest iSCSI name. */
    static final int MAX_NAME_BYTES = 223;

    /** Longest text of a binary value. */
    static final int MAX_BINARY_TEXT_BYTES = 2 + 2 * MAX_BINARY_BYTES;

    /** Values by which an acceptor declines a key (section 6.2). */
    public static final String REJECT = "Reject";
    public static final String IRRELEVANT = "Irrelevant";
    public static final String NOT_UNDERSTOOD = "NotUnderstood";

    private static final BigInteger MAX_NUMBER = BigInteger.valueOf(Long.MAX_VALUE);

    /** A number, in decimal. */
    public static KeyValue of(String key, long number) {
        return new KeyValue(key, Long.toString(number));
    }

    /** Yes or No. */
    public static KeyValue of(String key, boolean yes) {
        return new KeyValue(key, yes ? "Yes" : "No");
    }

    /** A list. */
    public static KeyValue of(String key, List<String> values) {
        return new KeyValue(key, String.join(",", values));
    }

    /** Bytes, in hexadecimal. */
    public static KeyValue binary(String key, byte[] bytes) {
        return new KeyValue(key, "0x" + HexFormat.of().formatHex(bytes));
    }

    /** A number in decimal or hexadecimal, 0 to 2^63-1. */
    public long number() throws ProtocolException {
        return number(value);
    }

    /** A range of numbers, {@code low~high}. */
    public Range range() throws ProtocolException {
        int tilde = value.indexOf('~');
        if (tilde < 0) {
            throw malformed("a range");
        }
        var range = new Range(number(value.substring(0, tilde)),
                number(value.substring(tilde + 1)));
        if (range.low() > range.high()) {
            throw malformed("a range");
        }
        return range;
    }

    /** A range of numbers, both ends included. */
    public record Range(long low, long high) {}

    /** Yes or No. */
    public boolean isYes() throws ProtocolException {
        return switch (value) {
            case "Yes" -> true;
            case "No" -> false;
            default -> throw malformed("Yes or No");
        };
    }

    /** The values between commas; an empty one is malformed. */
    public List<String> list() throws ProtocolException {
        var values = new ArrayList<String>();
        for (String part : value.split(",", -1)) {
            if (part.isEmpty()) {
                throw malformed("a list");
            }
            values.add(part);
        }
        return values;
    }

    /** Bytes in hexadecimal (0x) or base64 (0b), 1 to 1024 of them. */
    public byte[] bytes() throws ProtocolException {
        if (value.length() < 3 || value.length() > MAX_BINARY_TEXT_BYTES
                || value.charAt(0) != '0') {
            throw malformed("a binary value");
        }
        String digits = value.substring(2);
        try {
            return switch (value.charAt(1)) {
                // An odd count of digits is a number without its leading zero.
                case 'x', 'X' -> HexFormat.of()
                        .parseHex(digits.length() % 2 == 0 ? digits : "0" + digits);
                case 'b', 'B' -> base64(digits);
                default -> throw malformed("a binary value");
            };
        } catch (IllegalArgumentException _) {
            throw malformed("a binary value");
        }
    }

    /** Whether the value is Reject, Irrelevant or NotUnderstood. */
    public boolean declines() {
        return value.equals(REJECT) || value.equals(IRRELEVANT) || value.equals(NOT_UNDERSTOOD);
    }

    @Override
    public String toString() {
        // CHAP responses are no secrets, but they are what an attacker with a dictionary needs.
        return key + "=" + (key.equals("CHAP_R") ? "..." : PeerText.printable(value));
    }

    /** Whether a text can be an iSCSI name: 1 to 223 bytes without blanks (section 4.2.7.1). */
    public static boolean isName(String text) {
        return !text.isEmpty() && text.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME_BYTES
                && text.chars().noneMatch(c -> c <= ' ' || c == 0x7f);
    }

    private byte[] base64(String digits) throws ProtocolException {
        byte[] bytes = Base64.getDecoder().decode(digits);
        if (bytes.length == 0 || bytes.length > MAX_BINARY_BYTES) {
            throw malformed("a binary value");
        }
        return bytes;
    }

    private long number(String text) throws ProtocolException {
        boolean hex = text.startsWith("0x") || text.startsWith("0X");
        String digits = hex ? text.substring(2) : text;
        boolean wellFormed = !digits.isEmpty() && digits.length() <= MAX_KEY_LENGTH
                && digits.chars().allMatch(hex ? HexFormat::isHexDigit : c -> c >= '0' && c <= '9')
                && (hex || digits.length() == 1 || digits.charAt(0) != '0');
        if (!wellFormed) {
            throw malformed("a number");
        }
        var number = new BigInteger(digits, hex ? 16 : 10);
        if (number.compareTo(MAX_NUMBER) > 0) {
            throw malformed("a number below 2^63");
        }
        return number.longValue();
    }

    private ProtocolException malformed(String form) {
        return new ProtocolException(this + " is not " + form + " (RFC 7143 section 6.1)");
    }
}
