package lunar.cli.browse;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import lunar.fs.Names;

/** Sends the response to a request, with the headers that browsers need. */
final class Answer {
    static final int NO_BODY = -1;

    private final HttpExchange exchange;

    Answer(HttpExchange exchange) {
        this.exchange = exchange;
        Headers headers = exchange.getResponseHeaders();
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set("Cross-Origin-Opener-Policy", "same-origin");
        headers.set("Cache-Control", "no-cache");
    }

    HttpExchange exchange() { return exchange; }

    boolean isHead() { return exchange.getRequestMethod().equals("HEAD"); }

    Answer header(String name, String value) {
        exchange.getResponseHeaders().set(name, value);
        return this;
    }

    /** A page of ours. */
    void page(int status, String html) throws IOException {
        header("Content-Security-Policy", Style.POLICY);
        text(status, "text/html; charset=utf-8", html);
    }

    void json(int status, Object tree) throws IOException {
        header("Content-Security-Policy", "default-src 'none'; sandbox");
        text(status, "application/json", BrowseJson.text(tree));
    }

    private void text(int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        header("Content-Type", type);
        start(status, bytes.length);
        if (!isHead()) {
            exchange.getResponseBody().write(bytes);
        }
    }

    /** Sends the headers; the server takes a length of -1 for none, and of 0 for an unknown one. */
    void start(int status, long bytes) throws IOException {
        boolean empty = bytes == 0 || isHead();
        if (bytes >= 0 && isHead()) {
            header("Content-Length", Long.toString(bytes));
        }
        exchange.sendResponseHeaders(status, empty || bytes == NO_BODY ? NO_BODY : bytes);
    }

    /** Redirects to another path here. The status is one that browsers do not keep. */
    void redirect(String path) throws IOException {
        String query = exchange.getRequestURI().getRawQuery();
        header("Location", query == null ? path : path + "?" + query);
        start(302, NO_BODY);
    }

    /** A file name for Content-Disposition (RFC 6266, RFC 8187). */
    static String disposition(String kind, String name) {
        String shown = Names.printable(name);
        var plain = new StringBuilder();
        shown.chars().forEach(
                c -> plain.append(c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : (char) c));
        var wide = new StringBuilder();
        for (byte b : shown.getBytes(StandardCharsets.UTF_8)) {
            int c = b & 0xff;
            boolean letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
            wide.append(letter ? String.valueOf((char) c) : String.format("%%%02X", c));
        }
        return kind + "; filename=\"" + plain + "\"; filename*=UTF-8''" + wide;
    }
}
