package lunar.cli.browse;

import java.util.Locale;
import lunar.block.Size;
import lunar.fs.Names;

/** Builds an HTML page; foreign text must be added by {@link #text}, which escapes it. */
final class Html {
    private static final String ICONS = """
            <svg width="0" height="0" aria-hidden="true" focusable="false">
            <symbol id="moon" viewBox="0 0 24 24"><path d="M20.6 14.4A9 9 0 0 1 9.6 3.4 9 9 0 1 0 20.6 14.4z"/></symbol>
            <symbol id="dir" viewBox="0 0 24 24"><path d="M3 6a2 2 0 0 1 2-2h4.6l2 2.4H19a2 2 0 0 1 2 2V18a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"/></symbol>
            <symbol id="file" viewBox="0 0 24 24"><path d="M6 2h8l5 5v13a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2zm7 1.8V8h4.2z"/></symbol>
            <symbol id="link" viewBox="0 0 24 24"><path d="M14 4h6v6h-2V7.4l-8.3 8.3-1.4-1.4L16.6 6H14zM5 6h6v2H6v10h10v-5h2v7H4V6z"/></symbol>
            <symbol id="other" viewBox="0 0 24 24"><path d="M12 3l9 9-9 9-9-9z"/></symbol>
            <symbol id="save" viewBox="0 0 24 24"><path d="M11 4h2v8.2l3.3-3.3 1.4 1.4L12 16l-5.700-5.700 1.400-1.400 3.300 3.300zM5 18h14v2H5z"/></symbol>
            </svg>
            """;

    private final StringBuilder page = new StringBuilder(16 << 10);

    /** Begins a page up to its main part. */
    Html(String title, String uri) {
        raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .raw("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")
                .raw("<link rel=\"icon\" href=\"data:,\"><title>").text(title)
                .raw("</title><style>").raw(Style.CSS).raw("</style></head>\n<body>").raw(ICONS)
                .raw("<header><div><a class=\"brand\" href=\"/\">").icon("moon", "")
                .raw("Lunar</a><span class=\"uri\">").text(uri)
                .raw("</span><span class=\"badge\">read only</span></div></header>\n<main>\n");
    }

    Html raw(String html) {
        page.append(html);
        return this;
    }

    /** Text from anywhere, made printable and escaped. */
    Html text(String text) {
        String shown = Names.printable(text);
        for (int i = 0; i < shown.length(); i++) {
            char c = shown.charAt(i);
            switch (c) {
                case '&' -> page.append("&amp;");
                case '<' -> page.append("&lt;");
                case '>' -> page.append("&gt;");
                case '"' -> page.append("&quot;");
                case '\'' -> page.append("&#39;");
                default -> page.append(c);
            }
        }
        return this;
    }

    Html icon(String name, String style) {
        return raw("<svg aria-hidden=\"true\"" + (style.isEmpty() ? "" : " class=\"" + style + "\"")
                + "><use href=\"#" + name + "\"/></svg>");
    }

    Html note(String line) {
        return raw("<p class=\"note\" role=\"note\">").text(line).raw("</p>\n");
    }

    /** A size for people; the exact one is told on pointing. */
    Html size(long bytes) {
        return raw("<span title=\"" + String.format(Locale.ROOT, "%,d bytes", bytes) + "\">")
                .text(Size.format(bytes)).raw("</span>");
    }

    /** Ends the page. */
    String end() { return page.append("</main></body></html>\n").toString(); }

    /** Returns the page of an error. */
    static String error(String uri, HttpError refusal) {
        return new Html(refusal.status() + " – Lunar", uri)
                .raw("<div class=\"error\"><strong>" + refusal.status() + "</strong>")
                .raw("<p>").text(refusal.text())
                .raw("</p><p><a href=\"/\">Back to the start</a></p></div>")
                .end();
    }
}
