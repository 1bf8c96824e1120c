package lunar.osd.s3.signature;

import java.util.Optional;

/**
 * Scope of a signature, with the access key.
 *
 * @param accessKey access key
 * @param date day, such as 20260101
 * @param region region, which may be any
 * @param service must be {@code s3} in requests
 */
record CredentialScope(String accessKey, String date, String region, String service) {
    static final String TERMINATOR = "aws4_request";

    private static final int FIELDS = 5;

    /** Parses the form {@code KEY/20260101/us-east-1/s3/aws4_request}; empty if it has another form. */
    static Optional<CredentialScope> parse(String text) {
        String[] fields = text.split("/", -1);
        int last = fields.length - 1;
        if (fields.length < FIELDS || !fields[last].equals(TERMINATOR)
                || !fields[last - 3].matches("\\d{8}")) {
            return Optional.empty();
        }
        int keyLength = text.length() - fields[last].length() - fields[last - 1].length()
                - fields[last - 2].length() - fields[last - 3].length() - 4;
        return Optional.of(new CredentialScope(text.substring(0, keyLength), fields[last - 3],
                fields[last - 2], fields[last - 1]));
    }

    /** Returns the scope as strings to sign have it. */
    String text() {
        return date + '/' + region + '/' + service + '/' + TERMINATOR;
    }
}
