package lunar.osd.s3.protocol;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Conditions of a request on the object that it reads or copies (RFC 9110, section 13).
 *
 * @param ifMatch ETags of which it must have one
 * @param ifNoneMatch ETags of which it must have none
 * @param ifModifiedSince time in milliseconds after which it must have changed
 * @param ifUnmodifiedSince time in milliseconds after which it must not have changed
 */
public record Conditions(Optional<String> ifMatch, Optional<String> ifNoneMatch,
        OptionalLong ifModifiedSince, OptionalLong ifUnmodifiedSince) {
    private static final long SECOND_MS = 1000;

    /** Result of an evaluation. */
    public enum Verdict {
        /** The request is performed. */
        HOLD,
        /** The client has the object as it is: 304. */
        NOT_MODIFIED,
        /** The request is refused: 412. */
        FAIL
    }

    /** Returns the conditions in the headers of a request whose names begin with a prefix. */
    public static Conditions of(RequestHead head, String prefix) {
        return new Conditions(head.header(prefix + "if-match"),
                head.header(prefix + "if-none-match"),
                time(head.header(prefix + "if-modified-since")),
                time(head.header(prefix + "if-unmodified-since")));
    }

    private static OptionalLong time(Optional<String> header) {
        return header.isEmpty() ? OptionalLong.empty() : HttpTime.parse(header.get());
    }

    /** Evaluates them, in the order of RFC 9110, section 13.2.2. */
    public Verdict evaluate(String etag, long modifiedMs) {
        long seconds = modifiedMs / SECOND_MS * SECOND_MS;
        if (ifMatch.isPresent()) {
            if (!matches(ifMatch.get(), etag)) {
                return Verdict.FAIL;
            }
        } else if (ifUnmodifiedSince.isPresent() && seconds > ifUnmodifiedSince.getAsLong()) {
            return Verdict.FAIL;
        }
        if (ifNoneMatch.isPresent()) {
            if (matches(ifNoneMatch.get(), etag)) {
                return Verdict.NOT_MODIFIED;
            }
        } else if (ifModifiedSince.isPresent() && seconds <= ifModifiedSince.getAsLong()) {
            return Verdict.NOT_MODIFIED;
        }
        return Verdict.HOLD;
    }

    /** Whether a list of ETags has one, quoted or not, or is an asterisk. */
    public static boolean matches(String header, String etag) {
        for (String each : header.split(",", -1)) {
            String one = each.strip();
            one = one.startsWith("W/") ? one.substring(2) : one;
            if (one.equals("*") || one.replace("\"", "").equals(etag)) {
                return true;
            }
        }
        return false;
    }
}
