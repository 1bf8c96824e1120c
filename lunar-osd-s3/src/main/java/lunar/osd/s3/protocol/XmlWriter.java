package lunar.osd.s3.protocol;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/** Writes a document of S3. For one thread. */
public final class XmlWriter {
    private static final String NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

    private final StringBuilder out = new StringBuilder(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    private final Deque<String> open = new ArrayDeque<>();

    /** Begins a document with a root element in the namespace of S3. */
    public static XmlWriter document(String root) {
        var writer = new XmlWriter();
        writer.out.append('<').append(root).append(" xmlns=\"").append(NAMESPACE).append("\">");
        writer.open.push(root);
        return writer;
    }

    /** Begins a document with a root element without namespace, as errors have it. */
    public static XmlWriter plain(String root) {
        var writer = new XmlWriter();
        return writer.begin(root);
    }

    /** Begins an element. */
    public XmlWriter begin(String name) {
        out.append('<').append(name).append('>');
        open.push(name);
        return this;
    }

    /** Ends the element that was begun last. */
    public XmlWriter end() {
        out.append("</").append(open.pop()).append('>');
        return this;
    }

    /** Writes an element with a text. */
    public XmlWriter text(String name, String value) {
        out.append('<').append(name).append('>');
        escape(value);
        out.append("</").append(name).append('>');
        return this;
    }

    /** Writes an element with a number. */
    public XmlWriter number(String name, long value) {
        return text(name, Long.toString(value));
    }

    /** Writes an element with a truth value. */
    public XmlWriter bool(String name, boolean value) {
        return text(name, Boolean.toString(value));
    }

    private void escape(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '&' -> out.append("&amp;");
                case '"' -> out.append("&quot;");
                default -> {
                    // XML 1.0 has no control characters; keys may have them, and encoding-type=url is for such keys.
                    if (c < ' ' || c == 0x7f) {
                        out.append("&#x").append(Integer.toHexString(c)).append(';');
                    } else {
                        out.append(c);
                    }
                }
            }
        }
    }

    /** Ends all elements and returns the document. */
    public byte[] toBytes() {
        while (!open.isEmpty()) {
            end();
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }
}
