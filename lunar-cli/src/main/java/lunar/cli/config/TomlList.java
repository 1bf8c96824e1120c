package lunar.cli.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A list of strings in a TOML table, edited in place: comments and formatting are kept. Immutable; each change returns
 * a new text of the whole table.
 */
public final class TomlList {
    /** From one character to before another. */
    private record Span(int from, int end) {}

    private final String text;
    /** After the opening bracket. */
    private final int from;
    /** The closing bracket. */
    private final int end;
    private final List<Span> elements;

    private TomlList(String text, int from, int end, List<Span> elements) {
        this.text = text;
        this.from = from;
        this.end = end;
        this.elements = elements;
    }

    /**
     * Returns the list of a key; empty if there is none, or if it is formatted in a way that cannot be edited
     * automatically.
     */
    public static Optional<TomlList> find(String table, String key) {
        Matcher matcher = Pattern
                .compile("(?m)^[ \\t]*" + Pattern.quote(key) + "[ \\t]*=[ \\t]*\\[")
                .matcher(table);
        return matcher.find() ? scan(table, matcher.end()) : Optional.empty();
    }

    private static Optional<TomlList> scan(String text, int from) {
        var elements = new ArrayList<Span>();
        int at = from;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == ']') {
                return Optional.of(new TomlList(text, from, at, elements));
            } else if (c == '#') {
                at = endOfLine(text, at);
            } else if (c == '"' || c == '\'') {
                int end = endOfText(text, at);
                if (end < 0) {
                    return Optional.empty();
                }
                elements.add(new Span(at, end));
                at = end;
            } else if (c == ',' || Character.isWhitespace(c)) {
                at++;
            } else {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private static int endOfLine(String text, int at) {
        int end = text.indexOf('\n', at);
        return end < 0 ? text.length() : end;
    }

    /** After the closing quote; -1 where it is a text of several lines, or has no end. */
    private static int endOfText(String text, int from) {
        char quote = text.charAt(from);
        if (text.startsWith(String.valueOf(quote).repeat(3), from)) {
            return -1;
        }
        for (int at = from + 1; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == quote) {
                return at + 1;
            }
            at += c == '\\' && quote == '"' ? 1 : 0;
        }
        return -1;
    }

    int size() { return elements.size(); }

    /** The table with another element. */
    public String with(int index, String value) {
        Span span = elements.get(index);
        return text.substring(0, span.from()) + VolumeTable.quoted(value)
                + text.substring(span.end());
    }

    /** The table without a text, however it is quoted; empty if it is not written plainly. */
    public Optional<String> without(String value) {
        for (int i = 0; i < elements.size(); i++) {
            String written = text.substring(elements.get(i).from(), elements.get(i).end());
            if (written.equals(VolumeTable.quoted(value)) || written.equals("'" + value + "'")) {
                return Optional.of(without(i));
            }
        }
        return Optional.empty();
    }

    /** The table without an element; a line that it had for itself goes, too, with its comment. */
    private String without(int index) {
        Span span = elements.get(index);
        int begin = span.from();
        int stop = afterComma(span.end());
        if (stop == span.end() && index > 0 && !hasLineTo(begin)) {
            begin = elements.get(index - 1).end(); // with the comma before it
        }
        int lineBegin = text.lastIndexOf('\n', begin - 1) + 1;
        int lineEnd = endOfLine(text, stop);
        String rest = text.substring(stop, lineEnd).strip();
        if (hasLineTo(begin) && lineEnd <= end && (rest.isEmpty() || rest.startsWith("#"))) {
            return text.substring(0, lineBegin)
                    + text.substring(Math.min(text.length(), lineEnd + 1));
        }
        while (stop < end && text.charAt(stop) == ' ') {
            stop++;
        }
        return text.substring(0, begin) + text.substring(stop);
    }

    /** Whether nothing is before a place in its line. */
    private boolean hasLineTo(int at) {
        int lineBegin = text.lastIndexOf('\n', at - 1) + 1;
        return lineBegin >= from && text.substring(lineBegin, at).isBlank();
    }

    /** After the comma that follows, if one does in this line. */
    private int afterComma(int at) {
        int next = at;
        while (next < end && (text.charAt(next) == ' ' || text.charAt(next) == '\t')) {
            next++;
        }
        return text.charAt(next) == ',' ? next + 1 : at;
    }

    /** The table with one element more, written as the others are. */
    public String plus(String value) {
        String quoted = VolumeTable.quoted(value);
        if (elements.isEmpty()) {
            return text.substring(0, from) + quoted + text.substring(from);
        }
        Span last = elements.getLast();
        int lineBegin = text.lastIndexOf('\n', last.from()) + 1;
        String indent = text.substring(lineBegin, last.from());
        int lineEnd = endOfLine(text, last.end());
        if (lineBegin < from || !indent.isBlank() || lineEnd > end) {
            return text.substring(0, last.end()) + ", " + quoted + text.substring(last.end());
        }
        boolean hasComma = afterComma(last.end()) != last.end();
        return text.substring(0, last.end()) + (hasComma ? "" : ",")
                + text.substring(last.end(), lineEnd) + "\n" + indent + quoted + ","
                + text.substring(lineEnd);
    }

    /** The table with one line more, behind the list's own. */
    String followedBy(String line) {
        int at = endOfLine(text, end);
        return text.substring(0, at) + "\n" + line + text.substring(at);
    }
}
