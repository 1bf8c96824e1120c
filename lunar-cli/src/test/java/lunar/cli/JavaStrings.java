package lunar.cli;

import java.util.ArrayList;
import java.util.List;

/** Reads the string constants of Java source; literals that are joined by {@code +} are one constant. */
final class JavaStrings {
    private static final String TEXT_BLOCK = "\"\"\"";

    /** Which translateEscapes() does not take. */
    private static final String UNICODE = "\\\\u+[0-9a-fA-F]{4}";

    private final String source;
    private final List<String> constants = new ArrayList<>();
    private final StringBuilder constant = new StringBuilder();
    private int at;

    /** Whether only {@code +}, white space and comments have been read since the last literal. */
    private boolean continues;

    private JavaStrings(String source) { this.source = source; }

    static List<String> of(String source) { return new JavaStrings(source).read(); }

    private List<String> read() {
        while (at < source.length()) {
            char c = source.charAt(at);
            if (source.startsWith("//", at)) {
                skipTo("\n");
            } else if (source.startsWith("/*", at)) {
                skipTo("*/");
            } else if (source.startsWith(TEXT_BLOCK, at)) {
                int end = source.indexOf(TEXT_BLOCK, at + TEXT_BLOCK.length());
                literal(source.substring(at + TEXT_BLOCK.length(), end));
                at = end + TEXT_BLOCK.length();
            } else if (c == '"' || c == '\'') {
                int end = at + 1;
                while (source.charAt(end) != c) {
                    end += source.charAt(end) == '\\' ? 2 : 1;
                }
                if (c == '"') {
                    literal(source.substring(at + 1, end).replaceAll(UNICODE, "?")
                            .translateEscapes());
                } else {
                    end();
                }
                at = end + 1;
            } else {
                if (c != '+' && !Character.isWhitespace(c)) {
                    end();
                }
                at++;
            }
        }
        end();
        return constants;
    }

    private void literal(String text) {
        constant.append(text);
        continues = true;
    }

    private void end() {
        if (continues) {
            constants.add(constant.toString());
        }
        constant.setLength(0);
        continues = false;
    }

    private void skipTo(String end) {
        int there = source.indexOf(end, at);
        at = there < 0 ? source.length() : there + end.length();
    }
}
