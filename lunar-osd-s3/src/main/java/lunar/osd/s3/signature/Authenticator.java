package lunar.osd.s3.signature;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/** Verifies signatures of requests (AWS Signature Version 4). Thread-safe. */
public final class Authenticator {
    /** How much the clocks of client and server may differ. */
    static final Duration MAX_SKEW = Duration.ofMinutes(15);

    private static final long MAX_EXPIRES_SECONDS = 604_800;
    private static final DateTimeFormatter TIME = DateTimeFormatter
            .ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT);
    private static final String CONTENT_SHA256 = "x-amz-content-sha256";

    private final AccessKeys keys;
    private final AnonymousRequests anonymous;
    private final InstantSource clock;

    /** @param anonymous decides about requests without a signature */
    public Authenticator(AccessKeys keys, AnonymousRequests anonymous, InstantSource clock) {
        this.keys = keys;
        this.anonymous = anonymous;
        this.clock = clock;
    }

    /**
     * Verifies a request.
     *
     * @return how its body is encoded and protected
     * @throws S3Exception if it is not permitted
     */
    public Payload authenticate(RequestHead head) throws S3Exception {
        if (head.header("x-amz-security-token").isPresent()
                || head.query().has("X-Amz-Security-Token")) {
            throw new S3Exception(S3Error.INVALID_TOKEN);
        }
        Optional<SignedRequest> signed = SignedRequest.of(head);
        if (signed.isEmpty()) {
            anonymous.check(head);
            return payload(head.header(CONTENT_SHA256).orElse(Payload.UNSIGNED_PAYLOAD),
                    Optional.empty());
        }
        return verify(head, signed.get());
    }

    private Payload verify(RequestHead head, SignedRequest request) throws S3Exception {
        checkTime(request);
        checkSignedHeaders(head, request.signedHeaders());
        String secret = keys.secret(request.scope().accessKey())
                .orElseThrow(() -> new S3Exception(S3Error.INVALID_ACCESS_KEY_ID));
        Optional<String> header = head.header(CONTENT_SHA256);
        if (header.isEmpty() && request.expiresSeconds().isEmpty()) {
            throw new S3Exception(S3Error.INVALID_REQUEST, "Missing header " + CONTENT_SHA256);
        }
        String hash = header.orElse(Payload.UNSIGNED_PAYLOAD);
        SigningKey key = SigningKey.derive(secret, request.scope());
        String expected = key.sign(CanonicalRequest.stringToSign(
                CanonicalRequest.of(head, request.signedHeaders(), hash), request.time(),
                request.scope()));
        if (!Hmac.isEqual(expected, request.signature())) {
            throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        return payload(hash, Optional
                .of(new ChunkSigner(key, request.time(), request.scope(), expected)));
    }

    private void checkTime(SignedRequest request) throws S3Exception {
        Instant time;
        try {
            time = LocalDateTime.parse(request.time(), TIME).toInstant(ZoneOffset.UTC);
        } catch (DateTimeException _) {
            throw new S3Exception(S3Error.ACCESS_DENIED, "The time of the request is invalid.");
        }
        Instant now = clock.instant();
        if (request.expiresSeconds().isEmpty()) {
            if (Duration.between(time, now).abs().compareTo(MAX_SKEW) > 0) {
                throw new S3Exception(S3Error.REQUEST_TIME_TOO_SKEWED);
            }
            return;
        }
        long expires = request.expiresSeconds().get();
        if (expires < 1 || expires > MAX_EXPIRES_SECONDS) {
            throw new S3Exception(S3Error.AUTHORIZATION_QUERY_ERROR,
                    "X-Amz-Expires must be from 1 to " + MAX_EXPIRES_SECONDS + '.');
        }
        if (now.isAfter(time.plusSeconds(expires))) {
            throw new S3Exception(S3Error.ACCESS_DENIED, "Request has expired");
        }
        if (time.isAfter(now.plus(MAX_SKEW))) {
            throw new S3Exception(S3Error.ACCESS_DENIED, "Request is not yet valid");
        }
    }

    /** Requires that the signature covers each header that matters: others could have been changed on the way. */
    private static void checkSignedHeaders(RequestHead head, List<String> signed)
            throws S3Exception {
        var names = new HashSet<>(signed);
        boolean complete = names.contains("host") && head.headers().keySet().stream()
                .filter(name -> name.startsWith("x-amz-")).allMatch(names::contains);
        boolean present = head.headers().keySet().containsAll(names);
        if (!complete || !present) {
            throw new S3Exception(S3Error.ACCESS_DENIED,
                    "There were headers present in the request which were not signed");
        }
    }

    private static Payload payload(String hash, Optional<ChunkSigner> signer) throws S3Exception {
        Optional<ChunkSigner> none = Optional.empty();
        return switch (hash) {
            case Payload.UNSIGNED_PAYLOAD -> Payload.UNSIGNED;
            case "STREAMING-UNSIGNED-PAYLOAD-TRAILER" -> new Payload(true, true, none,
                    Optional.empty());
            case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" -> new Payload(true, false, signer,
                    Optional.empty());
            case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" -> new Payload(true, true, signer,
                    Optional.empty());
            default -> {
                if (hash.startsWith("STREAMING-")) {
                    throw new S3Exception(S3Error.NOT_IMPLEMENTED,
                            "The encoding of the body is not supported: " + hash);
                }
                String lower = hash.toLowerCase(Locale.ROOT);
                if (!lower.matches("[0-9a-f]{64}")) {
                    throw new S3Exception(S3Error.INVALID_ARGUMENT,
                            CONTENT_SHA256 + " is no SHA-256.");
                }
                yield new Payload(false, false, none, Optional.of(lower));
            }
        };
    }
}
