package lunar.cli.browse;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Range of a file that a request selects (RFC 9110, section 14). Multiple ranges are not supported: the whole file is
 * sent, as the RFC allows.
 *
 * @param first first byte
 * @param count number of bytes; 0 if the range starts after the end
 */
record ByteRange(long first, long count) {
    private static final Pattern FORM = Pattern
            .compile("bytes=\\s*(\\d{1,18})?-(\\d{1,18})?\\s*");

    static final ByteRange UNSATISFIABLE = new ByteRange(0, 0);

    /** Parses a Range header; empty if it asks for the whole, or cannot be understood. */
    static Optional<ByteRange> parse(String header, long sizeBytes) {
        Matcher matcher = FORM.matcher(header);
        if (!matcher.matches() || (matcher.group(1) == null && matcher.group(2) == null)) {
            return Optional.empty();
        }
        long last = matcher.group(2) == null ? Long.MAX_VALUE : Long.parseLong(matcher.group(2));
        if (matcher.group(1) == null) { // the last so many bytes
            long count = Math.min(last, sizeBytes);
            return Optional
                    .of(count == 0 ? UNSATISFIABLE : new ByteRange(sizeBytes - count, count));
        }
        long first = Long.parseLong(matcher.group(1));
        if (last < first) {
            return Optional.empty();
        }
        return Optional.of(first >= sizeBytes
                ? UNSATISFIABLE
                : new ByteRange(first, Math.min(last, sizeBytes - 1) - first + 1));
    }

    boolean isSatisfiable() { return count > 0; }

    /** Returns the answer's Content-Range. */
    String contentRange(long sizeBytes) {
        return isSatisfiable()
                ? "bytes " + first + "-" + (first + count - 1) + "/" + sizeBytes
                : "bytes */" + sizeBytes;
    }
}
