package lunar.osd.s3.http;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import lunar.osd.s3.protocol.XmlWriter;

/** Sends a response. For the thread of the request. */
final class Response {
    private final HttpExchange exchange;
    private final RequestThreads threads;
    private boolean sent;

    Response(HttpExchange exchange, RequestThreads threads) {
        this.exchange = exchange;
        this.threads = threads;
    }

    /** Sets a header. */
    Response header(String name, String value) {
        exchange.getResponseHeaders().set(name, value);
        return this;
    }

    /** Removes all headers, to answer an error instead. */
    void reset() {
        exchange.getResponseHeaders().clear();
    }

    /** Whether the head of the response has been sent. */
    boolean isSent() { return sent; }

    /** Sends a response without a body. */
    void empty(int status) throws IOException {
        send(status, -1);
    }

    /** Sends a document. */
    void document(XmlWriter document) throws IOException {
        document(200, document);
    }

    /** Sends a document; a HEAD request gets its length alone. */
    void document(int status, XmlWriter document) throws IOException {
        byte[] bytes = document.toBytes();
        header("Content-Type", "application/xml");
        try (OutputStream out = body(status, bytes.length)) {
            out.write(bytes);
        }
    }

    /** Sends a head that announces a body, and opens a stream for it; for a HEAD request, it drops what is written. */
    OutputStream body(int status, long length) throws IOException {
        if (exchange.getRequestMethod().equals("HEAD")) {
            header("Content-Length", Long.toString(length));
            send(status, -1);
            return OutputStream.nullOutputStream();
        }
        send(status, length == 0 ? -1 : length);
        return length == 0
                ? OutputStream.nullOutputStream()
                : new ClientOutput(exchange.getResponseBody(), threads);
    }

    private void send(int status, long length) throws IOException {
        sent = true;
        threads.beginWait();
        try {
            exchange.sendResponseHeaders(status, length);
        } catch (IOException e) {
            throw new ClientException(e);
        } finally {
            threads.endWait();
        }
    }
}
