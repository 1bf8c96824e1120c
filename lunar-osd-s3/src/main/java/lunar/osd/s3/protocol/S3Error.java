package lunar.osd.s3.protocol;

/** Error codes of S3 with their HTTP status and a message for people. */
public enum S3Error {
    ACCESS_DENIED("AccessDenied", 403, "Access denied."),
    AUTHORIZATION_HEADER_MALFORMED("AuthorizationHeaderMalformed", 400,
            "The authorization header is malformed."),
    AUTHORIZATION_QUERY_ERROR("AuthorizationQueryParametersError", 400,
            "The query parameters of the signature are malformed."),
    BAD_DIGEST("BadDigest", 400, "The digest of the request does not match its data."),
    BUCKET_ALREADY_OWNED("BucketAlreadyOwnedByYou", 409, "The bucket exists."),
    BUCKET_NOT_EMPTY("BucketNotEmpty", 409, "The bucket is not empty."),
    ENTITY_TOO_LARGE("EntityTooLarge", 400, "The data are longer than the largest permitted."),
    ENTITY_TOO_SMALL("EntityTooSmall", 400,
            "A part other than the last is shorter than the smallest permitted."),
    INCOMPLETE_BODY("IncompleteBody", 400, "The request has less data than it announces."),
    INTERNAL_ERROR("InternalError", 500, "The device failed to perform the request."),
    INVALID_ACCESS_KEY_ID("InvalidAccessKeyId", 403, "The access key is not known."),
    INVALID_ARGUMENT("InvalidArgument", 400, "An argument is invalid."),
    INVALID_BUCKET_NAME("InvalidBucketName", 400, "The name of the bucket is invalid."),
    INVALID_DIGEST("InvalidDigest", 400, "The digest of the request is malformed."),
    INVALID_PART("InvalidPart", 400, "A part does not exist, or has another ETag."),
    INVALID_PART_ORDER("InvalidPartOrder", 400, "The parts are not in ascending order."),
    INVALID_RANGE("InvalidRange", 416, "The range lies behind the end of the object."),
    INVALID_REQUEST("InvalidRequest", 400, "The request is invalid."),
    INVALID_STORAGE_CLASS("InvalidStorageClass", 400, "The storage class is not known."),
    INVALID_TOKEN("InvalidToken", 400, "Session tokens are not supported."),
    INVALID_URI("InvalidURI", 400, "The URI cannot be decoded."),
    KEY_TOO_LONG("KeyTooLongError", 400, "The key is longer than 1024 bytes."),
    MALFORMED_XML("MalformedXML", 400, "The document is malformed."),
    METADATA_TOO_LARGE("MetadataTooLarge", 400, "The user metadata are longer than 2 KiB."),
    METHOD_NOT_ALLOWED("MethodNotAllowed", 405, "The resource does not have this method."),
    MISSING_CONTENT_LENGTH("MissingContentLength", 411, "The request has no Content-Length."),
    NO_SUCH_BUCKET("NoSuchBucket", 404, "The bucket does not exist."),
    NO_SUCH_KEY("NoSuchKey", 404, "The key does not exist."),
    NO_SUCH_UPLOAD("NoSuchUpload", 404, "The multipart upload does not exist."),
    NOT_IMPLEMENTED("NotImplemented", 501, "The server does not implement this function."),
    OPERATION_ABORTED("OperationAborted", 409, "The bucket is in use by other requests."),
    PRECONDITION_FAILED("PreconditionFailed", 412, "A condition of the request does not hold."),
    QUOTA_EXCEEDED("QuotaExceeded", 403, "A quota of the device would be exceeded."),
    REQUEST_TIME_TOO_SKEWED("RequestTimeTooSkewed", 403,
            "The time of the request differs too much from the server's."),
    SERVICE_UNAVAILABLE("ServiceUnavailable", 503,
            "The device may have lost data of the request; repeat it."),
    SIGNATURE_DOES_NOT_MATCH("SignatureDoesNotMatch", 403,
            "The signature differs from the one that the server has computed."),
    PAYLOAD_HASH_MISMATCH("XAmzContentSHA256Mismatch", 400,
            "The x-amz-content-sha256 of the request does not match its data.");

    private final String code;
    private final int status;
    private final String message;

    S3Error(String code, int status, String message) {
        this.code = code;
        this.status = status;
        this.message = message;
    }

    /** Returns the code, as clients compare it. */
    public String code() { return code; }

    /** Returns the HTTP status. */
    public int status() { return status; }

    /** Returns a message for people. */
    public String message() { return message; }
}
