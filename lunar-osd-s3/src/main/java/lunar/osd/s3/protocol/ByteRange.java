package lunar.osd.s3.protocol;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Bytes of an object that a request selects (RFC 9110, section 14).
 *
 * @param first first byte
 * @param count number of bytes, at least 1
 */
public record ByteRange(long first, long count) {
    private static final Pattern FORM = Pattern
            .compile("bytes=\\s*(\\d{1,18})?\\s*-\\s*(\\d{1,18})?\\s*");

    /**
     * Parses a Range header. Several ranges, and what cannot be understood, select the whole object, as the RFC allows.
     *
     * @return empty for the whole object
     * @throws S3Exception with InvalidRange if it lies behind the end
     */
    public static Optional<ByteRange> parse(String header, long sizeBytes) throws S3Exception {
        Matcher matcher = FORM.matcher(header);
        if (!matcher.matches() || (matcher.group(1) == null && matcher.group(2) == null)) {
            return Optional.empty();
        }
        long last = matcher.group(2) == null ? Long.MAX_VALUE : Long.parseLong(matcher.group(2));
        if (matcher.group(1) == null) {
            long count = Math.min(last, sizeBytes); // the last so many bytes
            if (count == 0) {
                throw new S3Exception(S3Error.INVALID_RANGE);
            }
            return Optional.of(new ByteRange(sizeBytes - count, count));
        }
        long first = Long.parseLong(matcher.group(1));
        if (last < first) {
            return Optional.empty();
        }
        if (first >= sizeBytes) {
            throw new S3Exception(S3Error.INVALID_RANGE);
        }
        return Optional.of(new ByteRange(first, Math.min(last, sizeBytes - 1) - first + 1));
    }

    /** Returns the Content-Range of the response. */
    public String contentRange(long sizeBytes) {
        return "bytes " + first + '-' + (first + count - 1) + '/' + sizeBytes;
    }
}
