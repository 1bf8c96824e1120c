package lunar.iscsi.text;

/**
 * Escapes text that a peer has sent (names, keys and values) for log lines and exception messages. A name may contain
 * any Unicode character above the blank (RFC 7143 section 4.2.7.1), among them terminal control sequences, line
 * separators and marks that reverse the direction of text.
 */
public final class PeerText {
    /** Longest result before the ellipsis: an iSCSI name of the greatest length in ASCII is shown whole. */
    static final int MAX_CHARACTERS = KeyValue.MAX_NAME_BYTES;

    private static final String ELLIPSIS = "...";

    private PeerText() {}

    /**
     * Makes text of a peer printable and bounds its length. Printable ASCII stays as it is; a backslash is doubled,
     * other characters become {@code \xNN} or {@code \}{@code uNNNN}, and what exceeds 223 characters is replaced by
     * an ellipsis.
     */
    public static String printable(String text) {
        if (text.length() <= MAX_CHARACTERS && text.chars().allMatch(PeerText::isPlain)) {
            return text;
        }
        var line = new StringBuilder(MAX_CHARACTERS + ELLIPSIS.length());
        for (int i = 0; i < text.length(); i++) {
            String shown = escaped(text.charAt(i));
            if (line.length() + shown.length() > MAX_CHARACTERS) {
                return line.append(ELLIPSIS).toString();
            }
            line.append(shown);
        }
        return line.toString();
    }

    private static boolean isPlain(int c) { return c >= ' ' && c < 0x7f && c != '\\'; }

    private static String escaped(char c) {
        if (isPlain(c)) {
            return String.valueOf(c);
        }
        return c == '\\' ? "\\\\" : String.format(c <= 0xff ? "\\x%02x" : "\\u%04x", (int) c);
    }
}
