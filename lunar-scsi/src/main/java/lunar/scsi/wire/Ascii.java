package lunar.scsi.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** ASCII data fields (SPC-5): left-aligned, padded with blanks. */
public final class Ascii {
    private Ascii() {}

    /** The text of a field without its padding; bytes that are not printable become question marks. */
    public static String read(MemorySegment bytes, long at, long length) {
        var text = new StringBuilder();
        for (long i = at; i < at + length; i++) {
            int c = BigEndian.int8(bytes, i);
            text.append(isPrintable(c) || c == 0 ? (char) c : '?');
        }
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == ' ' || text.charAt(end - 1) == 0)) {
            end--;
        }
        text.setLength(end);
        return text.toString().replace((char) 0, '?');
    }

    public static void write(MemorySegment bytes, long at, int length, String text) {
        bytes.asSlice(at, length).fill((byte) ' ');
        byte[] content = text.getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(content, 0, bytes, ValueLayout.JAVA_BYTE, at, content.length);
    }

    /** Refuses a text that does not fit its field: a mistake of our own. */
    public static void check(String name, String text, int maxLength) {
        if (text.length() > maxLength || !text.chars().allMatch(Ascii::isPrintable)
                || text.endsWith(" ")) {
            throw new IllegalArgumentException(name + " must be at most " + maxLength
                    + " printable ASCII characters, without blanks at the end: '" + text + "'");
        }
    }

    private static boolean isPrintable(int c) { return c >= 0x20 && c < 0x7f; }
}
