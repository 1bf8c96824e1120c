package lunar.osd.s3.signature;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a body in the encoding {@code aws-chunked} and verifies the signatures of its chunks and trailing headers.
 *
 * <pre>
 * 10000;chunk-signature=64 digits CRLF  data CRLF      without ;chunk-signature= if chunks are not signed
 * 0;chunk-signature=64 digits CRLF
 * x-amz-checksum-crc32:Base64 CRLF                     trailing headers, if announced
 * x-amz-trailer-signature:64 digits CRLF               if chunks are signed
 * CRLF
 * </pre>
 *
 * <p>Data are passed on as they arrive, before the signature of their chunk has been verified: what is made of them
 * counts only when the stream has ended without {@link Refused}. Chunks may have any size. For one thread.
 */
public final class ChunkedInput extends InputStream {
    /** Thrown where the body breaks a rule; has the error for the client. */
    public static final class Refused extends IOException {
        private static final long serialVersionUID = 1;

        private final transient S3Exception refusal;

        Refused(S3Error error) {
            super(error.code());
            refusal = new S3Exception(error);
        }

        /** Returns the error for the client. */
        public S3Exception refusal() { return refusal; }
    }

    private static final int MAX_LINE = 1024;
    private static final int MAX_TRAILERS = 16;
    private static final int MAX_SIZE_DIGITS = 12;
    private static final String SIGNATURE = "chunk-signature=";
    private static final String TRAILER_SIGNATURE = "x-amz-trailer-signature";

    private final InputStream in;
    private final @Nullable ChunkSigner signer;
    private final boolean hasTrailers;
    private final Map<String, String> trailers = new LinkedHashMap<>();
    private final MessageDigest sha256 = Hmac.sha256();
    private String signature = "";
    private long remaining;
    private boolean inChunk;
    private boolean ended;

    /** @param in the body as it comes; buffered, and not closed by this stream */
    public ChunkedInput(InputStream in, Payload payload) {
        this.in = in;
        signer = payload.signer().orElse(null);
        hasTrailers = payload.trailers();
    }

    /** Returns the trailing headers by their names in lower case; complete when the stream has ended. */
    public Map<String, String> trailers() {
        return Map.copyOf(trailers);
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
        Objects.checkFromIndexSize(at, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (remaining == 0 && !ended) {
            nextChunk();
        }
        if (ended) {
            return -1;
        }
        int count = in.read(into, at, (int) Math.min(length, remaining));
        if (count < 0) {
            throw new Refused(S3Error.INCOMPLETE_BODY);
        }
        if (signer != null) {
            sha256.update(into, at, count);
        }
        remaining -= count;
        return count;
    }

    private void nextChunk() throws IOException {
        endChunk();
        String line = line();
        int semicolon = line.indexOf(';');
        String size = semicolon < 0 ? line : line.substring(0, semicolon);
        String extension = semicolon < 0 ? "" : line.substring(semicolon + 1);
        if (size.isEmpty() || size.length() > MAX_SIZE_DIGITS || !size.matches("[0-9a-fA-F]+")) {
            throw new Refused(S3Error.INVALID_REQUEST);
        }
        if (signer != null) {
            if (!extension.startsWith(SIGNATURE)) {
                throw new Refused(S3Error.SIGNATURE_DOES_NOT_MATCH);
            }
            signature = extension.substring(SIGNATURE.length());
        }
        remaining = Long.parseLong(size, 16);
        inChunk = true;
        if (remaining == 0) {
            verifyChunk();
            readTrailers();
            ended = true;
        }
    }

    private void endChunk() throws IOException {
        if (inChunk) {
            if (!line().isEmpty()) {
                throw new Refused(S3Error.INVALID_REQUEST);
            }
            verifyChunk();
        }
    }

    private void verifyChunk() throws Refused {
        inChunk = false;
        if (signer != null
                && !Hmac.isEqual(signer.next(Hmac.hex(sha256.digest())), signature)) {
            throw new Refused(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
    }

    private void readTrailers() throws IOException {
        String trailerSignature = "";
        int lines = 0;
        for (String line = endLine(); !line.isEmpty(); line = endLine()) {
            int colon = line.indexOf(':');
            if (colon < 1 || !hasTrailers || ++lines > MAX_TRAILERS) {
                throw new Refused(S3Error.INVALID_REQUEST);
            }
            String name = line.substring(0, colon).strip().toLowerCase(Locale.ROOT);
            String value = line.substring(colon + 1).strip();
            if (name.equals(TRAILER_SIGNATURE)) {
                trailerSignature = value;
            } else if (trailers.put(name, value) != null) {
                throw new Refused(S3Error.INVALID_REQUEST);
            }
        }
        if (hasTrailers && signer != null && !Hmac.isEqual(signer.trailers(canonical()),
                trailerSignature)) {
            throw new Refused(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
    }

    private String canonical() {
        return new TreeMap<>(trailers).entrySet().stream()
                .map(each -> each.getKey() + ':' + each.getValue() + '\n')
                .collect(Collectors.joining());
    }

    /** Reads a line after the last chunk. Some clients end the body without the empty line. */
    private String endLine() throws IOException {
        return line(in.read(), true);
    }

    private String line() throws IOException { return line(in.read(), false); }

    private String line(int first, boolean mayBeEnd) throws IOException {
        if (first < 0 && mayBeEnd) {
            return "";
        }
        var line = new StringBuilder();
        for (int c = first; c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new Refused(S3Error.INCOMPLETE_BODY);
            }
            if (line.length() >= MAX_LINE) {
                throw new Refused(S3Error.INVALID_REQUEST);
            }
            line.append((char) c);
        }
        int end = line.length();
        return end > 0 && line.charAt(end - 1) == '\r'
                ? line.substring(0, end - 1)
                : line.toString();
    }
}
