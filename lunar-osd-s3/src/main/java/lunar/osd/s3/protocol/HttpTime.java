package lunar.osd.s3.protocol;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.OptionalLong;

/** Times in the forms of headers (RFC 9110, section 5.6.7) and documents. */
public final class HttpTime {
    private static final DateTimeFormatter HEADER = DateTimeFormatter
            .ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter DOCUMENT = DateTimeFormatter
            .ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private HttpTime() {}

    /** Returns a time for a header, in seconds. */
    public static String header(long timeMs) {
        return HEADER.format(Instant.ofEpochMilli(timeMs));
    }

    /** Returns a time for a document. */
    public static String document(long timeMs) {
        return DOCUMENT.format(Instant.ofEpochMilli(timeMs));
    }

    /** Parses a time of a header, in milliseconds; empty if it is none, which conditions ignore. */
    public static OptionalLong parse(String header) {
        try {
            return OptionalLong.of(ZonedDateTime
                    .parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant()
                    .toEpochMilli());
        } catch (DateTimeParseException _) {
            return OptionalLong.empty();
        }
    }
}
