package lunar.osd.s3.signature;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.osd.s3.protocol.Query;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/**
 * The signature of a request, with the parameters that it was made with.
 *
 * @param scope access key and scope
 * @param signedHeaders names in lower case, in ascending order
 * @param signature in hexadecimal
 * @param time ISO 8601 basic form, such as 20260101T000000Z
 * @param expiresSeconds how long a presigned URL is valid; empty if the signature is in the headers
 */
record SignedRequest(CredentialScope scope, List<String> signedHeaders, String signature,
        String time, Optional<Long> expiresSeconds) {
    static final String ALGORITHM = "AWS4-HMAC-SHA256";
    static final String SIGNATURE_PARAMETER = "X-Amz-Signature";

    private static final int SIGNATURE_LENGTH = 64;

    /** Returns what a request says; empty if it is not signed. */
    static Optional<SignedRequest> of(RequestHead head) throws S3Exception {
        Optional<String> authorization = head.header("authorization");
        boolean presigned = head.query().has("X-Amz-Algorithm")
                || head.query().has(SIGNATURE_PARAMETER);
        if (head.query().has("AWSAccessKeyId")) {
            throw new S3Exception(S3Error.INVALID_REQUEST, "Only " + ALGORITHM + " is supported.");
        }
        if (authorization.isPresent() && presigned) {
            throw new S3Exception(S3Error.INVALID_ARGUMENT,
                    "A request is signed in its headers or in its query, not in both.");
        }
        if (authorization.isPresent()) {
            return Optional.of(inHeader(head, authorization.get()));
        }
        return presigned ? Optional.of(inQuery(head.query())) : Optional.empty();
    }

    private static SignedRequest inHeader(RequestHead head, String header) throws S3Exception {
        if (!header.startsWith(ALGORITHM + ' ')) {
            throw new S3Exception(S3Error.INVALID_REQUEST, "Only " + ALGORITHM + " is supported.");
        }
        Map<String, String> fields = new HashMap<>();
        for (String field : header.substring(ALGORITHM.length()).split(",", -1)) {
            int equals = field.indexOf('=');
            if (equals > 0) {
                fields.put(field.substring(0, equals).strip(), field.substring(equals + 1).strip());
            }
        }
        Optional<String> time = head.header("x-amz-date");
        return parse(fields.getOrDefault("Credential", ""),
                fields.getOrDefault("SignedHeaders", ""), fields.getOrDefault("Signature", ""),
                time.orElse(""), Optional.empty(), S3Error.AUTHORIZATION_HEADER_MALFORMED);
    }

    private static SignedRequest inQuery(Query query) throws S3Exception {
        S3Error error = S3Error.AUTHORIZATION_QUERY_ERROR;
        String expires = query.get("X-Amz-Expires").orElse("");
        if (!query.get("X-Amz-Algorithm").orElse("").equals(ALGORITHM)
                || !expires.matches("\\d{1,6}")) {
            throw new S3Exception(error);
        }
        return parse(query.get("X-Amz-Credential").orElse(""),
                query.get("X-Amz-SignedHeaders").orElse(""),
                query.get(SIGNATURE_PARAMETER).orElse(""), query.get("X-Amz-Date").orElse(""),
                Optional.of(Long.parseLong(expires)), error);
    }

    private static SignedRequest parse(String credential, String headers, String signature,
            String time, Optional<Long> expiresSeconds, S3Error error) throws S3Exception {
        CredentialScope scope = CredentialScope.parse(credential)
                .orElseThrow(() -> new S3Exception(error));
        if (signature.length() != SIGNATURE_LENGTH || !time.matches("\\d{8}T\\d{6}Z")
                || !time.startsWith(scope.date()) || !scope.service().equals("s3")) {
            throw new S3Exception(error);
        }
        return new SignedRequest(scope, List.of(headers.split(";", -1)), signature, time,
                expiresSeconds);
    }
}
