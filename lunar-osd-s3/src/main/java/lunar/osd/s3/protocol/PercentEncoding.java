package lunar.osd.s3.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Percent-encoding of URIs in the form that signatures prescribe: every byte but the unreserved ones (RFC 3986). */
public final class PercentEncoding {
    private static final char[] DIGITS = "0123456789ABCDEF".toCharArray();
    private static final int HEX = 16;

    private PercentEncoding() {}

    /** Encodes a text, slashes included. */
    public static String encode(String text) {
        return encode(text, false);
    }

    /** Encodes a path: slashes stay. */
    public static String encodePath(String path) {
        return encode(path, true);
    }

    private static String encode(String text, boolean keepSlash) {
        var out = new StringBuilder(text.length() + HEX);
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (each & 0xff);
            if (isUnreserved(c) || (keepSlash && c == '/')) {
                out.append(c);
            } else {
                out.append('%').append(DIGITS[c >> 4]).append(DIGITS[c & 0xf]);
            }
        }
        return out.toString();
    }

    private static boolean isUnreserved(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                || c == '-' || c == '.' || c == '_' || c == '~';
    }

    /** Decodes a path, in which a plus sign stands for itself. */
    public static String decodePath(String raw) throws S3Exception {
        return decode(raw, false);
    }

    /** Decodes a name or value of a query, in which a plus sign stands for a blank. */
    public static String decodeQuery(String raw) throws S3Exception {
        return decode(raw, true);
    }

    private static String decode(String raw, boolean plusIsBlank) throws S3Exception {
        var bytes = ByteBuffer.allocate(raw.length() * 3);
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%') {
                if (i + 2 >= raw.length()) {
                    throw new S3Exception(S3Error.INVALID_URI);
                }
                int high = Character.digit(raw.charAt(i + 1), HEX);
                int low = Character.digit(raw.charAt(i + 2), HEX);
                if (high < 0 || low < 0) {
                    throw new S3Exception(S3Error.INVALID_URI);
                }
                bytes.put((byte) (high << 4 | low));
                i += 2;
            } else if (c == '+' && plusIsBlank) {
                bytes.put((byte) ' ');
            } else if (c < 0x80) {
                bytes.put((byte) c);
            } else {
                bytes.put(StandardCharsets.UTF_8.encode(String.valueOf(c)));
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException _) {
            throw new S3Exception(S3Error.INVALID_URI);
        }
    }
}
