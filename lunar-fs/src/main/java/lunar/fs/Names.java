package lunar.fs;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * Converts names between bytes and text. ext stores bytes, which are UTF-8 only by convention: an invalid byte becomes
 * a lone surrogate U+DC80 to U+DCFF, as in Python (PEP 383), so that names stay distinct and can be converted back.
 * {@link #printable} makes a name displayable.
 */
public final class Names {
    private static final char ESCAPE = '\udc00';
    private static final char REPLACEMENT = '\ufffd';

    private Names() {}

    /** Text of a name's bytes. */
    public static String decode(byte[] bytes) {
        return decode(bytes, 0, bytes.length);
    }

    static String decode(byte[] bytes, int at, int count) {
        if (isAscii(bytes, at, count)) {
            return new String(bytes, at, count, StandardCharsets.ISO_8859_1); // pure ASCII
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(bytes, at, count);
        CharBuffer out = CharBuffer.allocate(count); // a char needs one byte at least, and so does an escape
        while (true) {
            CoderResult result = decoder.decode(in, out, true);
            if (result.isUnderflow()) {
                return out.flip().toString();
            }
            for (int i = 0; i < result.length(); i++) {
                out.put((char) (ESCAPE + (in.get() & 0xff)));
            }
            decoder.reset();
        }
    }

    private static boolean isAscii(byte[] bytes, int at, int count) {
        for (int i = at; i < at + count; i++) {
            if (bytes[i] < 0) {
                return false;
            }
        }
        return true;
    }

    /** The bytes that {@link #decode} makes this text of. */
    public static byte[] encode(String name) {
        var bytes = new ByteArrayOutputStream(name.length());
        int from = 0;
        for (int i = 0; i <= name.length(); i++) {
            boolean escape = i < name.length() && isEscape(name, i);
            if (escape || i == name.length()) {
                bytes.writeBytes(name.substring(from, i).getBytes(StandardCharsets.UTF_8));
                from = i + 1;
            }
            if (escape) {
                bytes.write(name.charAt(i) - ESCAPE);
            }
        }
        return bytes.toByteArray();
    }

    private static boolean isEscape(String name, int at) {
        char c = name.charAt(at);
        return c >= ESCAPE + 0x80 && c <= ESCAPE + 0xff
                && (at == 0 || !Character.isHighSurrogate(name.charAt(at - 1)));
    }

    /**
     * Returns the text with U+FFFD in place of unprintable characters and those that affect the display of others:
     * control characters, line ends, bidirectional controls, invalid bytes. Not escaped for HTML.
     */
    public static String printable(String name) {
        var text = new StringBuilder(name.length());
        name.codePoints().forEach(c -> text.appendCodePoint(switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR, Character.UNASSIGNED ->
                REPLACEMENT;
            default -> c;
        }));
        return text.toString();
    }

    /** A name from an image with U+FFFD for what would make a path of it. */
    static String component(String name) {
        return name.replace('/', REPLACEMENT).replace('\0', REPLACEMENT);
    }

    /** Like {@link #component}, but for text of 16-bit units, where a lone surrogate is no escaped byte. */
    static String componentOfUnits(String units) {
        var text = new StringBuilder(units.length());
        units.codePoints().forEach(c -> text.appendCodePoint(
                c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? REPLACEMENT : c));
        return component(text.toString());
    }

    /** Text of a fixed field: bytes up to the first NUL, without blanks around. */
    static String field(byte[] bytes, int at, int count) {
        int length = 0;
        while (length < count && bytes[at + length] != 0) {
            length++;
        }
        return printable(decode(bytes, at, length)).strip();
    }
}
