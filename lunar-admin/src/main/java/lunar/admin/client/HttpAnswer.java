package lunar.admin.client;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A response of HTTP/1.1 to a request with {@code Connection: close} (RFC 9112), which limits everything.
 *
 * @param status the status code
 * @param body the whole content
 */
@SuppressWarnings("ArrayRecordComponent") // confined to the client, which never compares answers
record HttpAnswer(int status, byte[] body) {
    private static final int MAX_LINE_BYTES = 8 << 10;
    private static final int MAX_HEADERS = 100;
    private static final int MAX_BODY_BYTES = 64 << 20;
    private static final int UNKNOWN = -1;

    /**
     * Reads a response.
     *
     * @throws ProtocolException if it is none; any other exception means that the connection has ended
     */
    static HttpAnswer read(InputStream in) throws IOException {
        String[] first = line(in).split(" ", 3);
        if (first.length < 2 || !first[0].startsWith("HTTP/1.")) {
            throw new ProtocolException("the peer does not speak HTTP/1.1");
        }
        int length = UNKNOWN;
        boolean chunked = false;
        for (int headers = 0;; headers++) {
            String header = line(in);
            if (header.isEmpty()) {
                break;
            }
            if (headers == MAX_HEADERS) {
                throw new ProtocolException(
                        "the response has more than " + MAX_HEADERS + " headers");
            }
            String[] parts = header.split(":", 2);
            String name = parts[0].toLowerCase(Locale.ROOT);
            String value = parts.length < 2 ? "" : parts[1].strip();
            if (name.equals("content-length")) {
                length = number(value, 10);
            } else if (name.equals("transfer-encoding")) {
                chunked = value.equalsIgnoreCase("chunked");
            }
        }
        return new HttpAnswer(number(first[1], 10), chunked
                ? chunks(in)
                : exactly(in, length));
    }

    private static byte[] exactly(InputStream in, int length) throws IOException {
        byte[] body = in.readNBytes(length == UNKNOWN ? MAX_BODY_BYTES : length);
        if (length != UNKNOWN && body.length < length) {
            throw new EOFException("the response ends in the middle");
        }
        return body;
    }

    private static byte[] chunks(InputStream in) throws IOException {
        var body = new ByteArrayOutputStream();
        while (true) {
            int length = number(line(in).replaceFirst(";.*", "").strip(), 16);
            if (length == 0) {
                return body.toByteArray();
            }
            if (body.size() + length > MAX_BODY_BYTES) {
                throw new ProtocolException(
                        "the response has more than " + MAX_BODY_BYTES + " bytes");
            }
            body.write(exactly(in, length));
            String _ = line(in);
        }
    }

    private static int number(String text, int radix) throws IOException {
        try {
            int number = Integer.parseInt(text, radix);
            if (number >= 0 && number <= MAX_BODY_BYTES) {
                return number;
            }
        } catch (NumberFormatException _) {
            // as of one out of range
        }
        throw new ProtocolException("the response has '" + text + "' in the place of a number");
    }

    private static String line(InputStream in) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server has closed the connection without a response");
            }
            if (line.size() == MAX_LINE_BYTES) {
                throw new ProtocolException("the response has a line of more than " + MAX_LINE_BYTES
                        + " bytes");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }
}
