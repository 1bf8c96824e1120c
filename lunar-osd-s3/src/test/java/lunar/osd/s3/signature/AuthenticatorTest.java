package lunar.osd.s3.signature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.osd.s3.protocol.PercentEncoding;
import lunar.osd.s3.protocol.Query;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import org.junit.jupiter.api.Test;

/**
 * The examples of Amazon's "Authenticating Requests (AWS Signature Version 4)": header-based, by query and chunk by
 * chunk; their access key and secret are public, and made for examples.
 */
class AuthenticatorTest {
    private static final String KEY = "AKIAIOSFODNN7EXAMPLE";
    private static final String SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    private static final Instant NOW = Instant.parse("2013-05-24T00:00:00Z");
    private static final String EMPTY = Hmac.EMPTY_SHA256;

    private static Authenticator at(Instant now) {
        return new Authenticator(new AccessKeys(Map.of(KEY, SECRET)),
                AnonymousRequests.refused(),
                InstantSource.fixed(now));
    }

    private static RequestHead head(String method, String path, String query, String... headers)
            throws S3Exception {
        var map = new HashMap<String, List<String>>();
        for (int i = 0; i < headers.length; i += 2) {
            map.put(headers[i], List.of(headers[i + 1]));
        }
        return new RequestHead(method, PercentEncoding.decodePath(path), Query.parse(query), map);
    }

    private static String authorization(String signedHeaders, String signature) {
        return "AWS4-HMAC-SHA256 Credential=" + KEY + "/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=" + signedHeaders + ",Signature=" + signature;
    }

    private static RequestHead getObject(String signature) throws S3Exception {
        return head("GET", "/test.txt", "", "host", "examplebucket.s3.amazonaws.com", "range",
                "bytes=0-9", "x-amz-content-sha256", EMPTY, "x-amz-date", "20130524T000000Z",
                "authorization",
                authorization("host;range;x-amz-content-sha256;x-amz-date", signature));
    }

    private static final String GET_OBJECT = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";

    @Test
    void shouldAcceptPublishedGetObject() throws S3Exception {
        Payload payload = at(NOW).authenticate(getObject(GET_OBJECT));
        assertThat(payload.chunked()).isFalse();
        assertThat(payload.sha256()).contains(EMPTY);
    }

    @Test
    void shouldAcceptPublishedPutObject() throws S3Exception {
        String hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
        Payload payload = at(NOW).authenticate(head("PUT", "/test%24file.text", "", "host",
                "examplebucket.s3.amazonaws.com", "date", "Fri, 24 May 2013 00:00:00 GMT",
                "x-amz-date", "20130524T000000Z", "x-amz-storage-class", "REDUCED_REDUNDANCY",
                "x-amz-content-sha256", hash, "authorization",
                authorization("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")));
        assertThat(payload.sha256()).contains(hash);
    }

    @Test
    void shouldAcceptPublishedGetBucketLifecycle() throws S3Exception {
        var _ = at(NOW).authenticate(head("GET", "/", "lifecycle", "host",
                "examplebucket.s3.amazonaws.com", "x-amz-date", "20130524T000000Z",
                "x-amz-content-sha256", EMPTY, "authorization",
                authorization("host;x-amz-content-sha256;x-amz-date",
                        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")));
    }

    @Test
    void shouldAcceptPublishedListObjects() throws S3Exception {
        var _ = at(NOW).authenticate(head("GET", "/", "max-keys=2&prefix=J", "host",
                "examplebucket.s3.amazonaws.com", "x-amz-date", "20130524T000000Z",
                "x-amz-content-sha256", EMPTY, "authorization",
                authorization("host;x-amz-content-sha256;x-amz-date",
                        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")));
    }

    private static RequestHead presigned() throws S3Exception {
        return head("GET", "/test.txt", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + KEY
                + "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
                + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
                + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
                "host", "examplebucket.s3.amazonaws.com");
    }

    @Test
    void shouldAcceptPublishedPresignedUrlUntilItExpires() throws S3Exception {
        assertThat(at(NOW).authenticate(presigned()).sha256()).isEmpty();
        assertThat(at(NOW.plusSeconds(86_400)).authenticate(presigned()).chunked()).isFalse();
        assertRefused(S3Error.ACCESS_DENIED, at(NOW.plusSeconds(86_401)), presigned());
        assertRefused(S3Error.ACCESS_DENIED, at(NOW.minus(Duration.ofHours(1))), presigned());
    }

    private static void assertRefused(S3Error error, Authenticator authenticator,
            RequestHead head) {
        assertThatThrownBy(() -> authenticator.authenticate(head))
                .isInstanceOfSatisfying(S3Exception.class, refusal -> {
                    assertThat(refusal.error()).isEqualTo(error);
                    assertThat(refusal.getMessage()).doesNotContain(SECRET);
                });
    }

    @Test
    void shouldRefuseAnySignatureButTheRightOne() throws S3Exception {
        String wrong = GET_OBJECT.replaceFirst("f", "e");
        assertRefused(S3Error.SIGNATURE_DOES_NOT_MATCH, at(NOW), getObject(wrong));
        assertRefused(S3Error.AUTHORIZATION_HEADER_MALFORMED, at(NOW), getObject(""));
        assertRefused(S3Error.AUTHORIZATION_HEADER_MALFORMED, at(NOW), getObject(GET_OBJECT + "0"));
    }

    @Test
    void shouldRefuseChangesOfEverythingSigned() throws S3Exception {
        RequestHead right = getObject(GET_OBJECT);
        var changed = new ArrayList<RequestHead>();
        changed.add(new RequestHead("HEAD", right.path(), right.query(), right.headers()));
        changed.add(new RequestHead("GET", "/other.txt", right.query(), right.headers()));
        changed.add(new RequestHead("GET", right.path(), Query.parse("x=y"), right.headers()));
        for (String name : List.of("host", "range", "x-amz-content-sha256")) {
            var headers = new HashMap<>(right.headers());
            headers.put(name, List.of("other"));
            changed.add(new RequestHead("GET", right.path(), right.query(), headers));
        }
        for (RequestHead each : changed) {
            assertRefused(S3Error.SIGNATURE_DOES_NOT_MATCH, at(NOW), each);
        }
    }

    @Test
    void shouldRefuseHeadersThatAreNotSigned() throws S3Exception {
        RequestHead right = getObject(GET_OBJECT);
        var headers = new HashMap<>(right.headers());
        headers.put("x-amz-copy-source", List.of("/other/secret"));
        assertRefused(S3Error.ACCESS_DENIED, at(NOW),
                new RequestHead("GET", right.path(), right.query(), headers));
    }

    @Test
    void shouldRefuseRequestsOfAnotherTime() throws S3Exception {
        Duration skew = Authenticator.MAX_SKEW;
        assertThat(at(NOW.plus(skew)).authenticate(getObject(GET_OBJECT)).chunked()).isFalse();
        assertRefused(S3Error.REQUEST_TIME_TOO_SKEWED, at(NOW.plus(skew).plusSeconds(1)),
                getObject(GET_OBJECT));
        assertRefused(S3Error.REQUEST_TIME_TOO_SKEWED, at(NOW.minus(skew).minusSeconds(1)),
                getObject(GET_OBJECT));
    }

    @Test
    void shouldRefuseUnknownKeysAndUnsignedRequests() throws S3Exception {
        var other = new Authenticator(new AccessKeys(Map.of("other", SECRET)),
                AnonymousRequests.allowed(List.of("localhost", "Objects.Example")),
                InstantSource.fixed(NOW));
        assertRefused(S3Error.INVALID_ACCESS_KEY_ID, other, getObject(GET_OBJECT));
        RequestHead unsigned = head("GET", "/", "", "host", "localhost");
        assertRefused(S3Error.ACCESS_DENIED, at(NOW), unsigned);
        assertThat(other.authenticate(unsigned).chunked()).isFalse();
        assertRefused(S3Error.INVALID_REQUEST, at(NOW),
                head("GET", "/", "", "host", "h", "authorization", "AWS " + KEY + ":abc"));
    }

    /** A web page whose name resolves to this server sends requests to its own origin: without Origin, with its Host. */
    @Test
    void shouldRefuseUnsignedRequestsWithNamesOfOthers() throws S3Exception {
        var open = new Authenticator(new AccessKeys(Map.of(KEY, SECRET)),
                AnonymousRequests.allowed(List.of("localhost", "Objects.Example")),
                InstantSource.fixed(NOW));
        for (String host : List.of("localhost", "LOCALHOST:9000", "b.localhost.", "127.0.0.1:80",
                "[::1]:9000", "[fe80::1%eth0]", "192.168.1.7", "objects.example:9000",
                "a.b.objects.example")) {
            assertThat(open.authenticate(head("GET", "/", "", "host", host)).chunked()).isFalse();
        }
        for (String host : List.of("evil.example", "localhost.evil.example", "xlocalhost",
                "127.0.0.1.evil.example", "1.2.3.4.5", "", ":9000", "example", "[::1].evil",
                "user@localhost")) {
            assertRefused(S3Error.ACCESS_DENIED, open, head("GET", "/", "", "host", host));
        }
        assertRefused(S3Error.ACCESS_DENIED, open, head("GET", "/", ""));
        assertRefused(S3Error.ACCESS_DENIED, open, new RequestHead("GET", "/", Query.parse(""),
                Map.of("host", List.of("localhost", "evil.example"))));
        assertRefused(S3Error.ACCESS_DENIED, open,
                head("GET", "/", "", "host", "localhost", "origin", "http://localhost"));
        assertThat(open.authenticate(getObject(GET_OBJECT)).chunked()).as("signed").isFalse();
    }

    @Test
    void shouldShowNoSecretInTexts() {
        assertThat(new AccessKeys(Map.of(KEY, SECRET)).toString()).doesNotContain(SECRET);
    }

    // --- the published example of a chunked upload: 64 KiB and 1 KiB of the letter a ---

    private static final String SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";

    private static Payload chunkedPut() throws S3Exception {
        return at(NOW).authenticate(head("PUT", "/examplebucket/chunkObject.txt", "", "host",
                "s3.amazonaws.com", "x-amz-date", "20130524T000000Z", "x-amz-storage-class",
                "REDUCED_REDUNDANCY", "x-amz-content-sha256",
                "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "content-encoding", "aws-chunked",
                "x-amz-decoded-content-length", "66560", "content-length", "66824",
                "authorization",
                authorization("content-encoding;content-length;host;x-amz-content-sha256;"
                        + "x-amz-date;x-amz-decoded-content-length;x-amz-storage-class", SEED)));
    }

    private static String chunkedBody(String lastSignature) {
        return "10000;chunk-signature="
                + "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n"
                + "a".repeat(65536) + "\r\n400;chunk-signature="
                + "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n"
                + "a".repeat(1024) + "\r\n0;chunk-signature=" + lastSignature + "\r\n\r\n";
    }

    private static final String LAST = "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9";

    private static ChunkedInput decode(String body) throws S3Exception {
        return new ChunkedInput(
                new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)), chunkedPut());
    }

    @Test
    void shouldDecodePublishedChunks() throws IOException, S3Exception {
        assertThat(chunkedBody(LAST)).hasSize(66824);
        assertThat(new String(decode(chunkedBody(LAST)).readAllBytes(),
                StandardCharsets.US_ASCII)).isEqualTo("a".repeat(66560));
    }

    @Test
    void shouldRefuseChangedChunks() {
        for (String body : List.of(chunkedBody(LAST.replace('b', 'c')),
                chunkedBody(LAST).replaceFirst("\r\na", "\r\nb"),
                chunkedBody(LAST).replaceFirst(";chunk-signature=[0-9a-f]+", ""),
                chunkedBody(LAST).substring(0, 66000), chunkedBody(LAST).substring(0, 20),
                chunkedBody(LAST).replaceFirst("10000", "10001"),
                chunkedBody(LAST).replaceFirst("10000", "-1"),
                chunkedBody(LAST).replaceFirst("10000", "7fffffffffffffffff"),
                "f".repeat(100_000))) {
            assertThatThrownBy(() -> decode(body).readAllBytes())
                    .isInstanceOf(ChunkedInput.Refused.class);
        }
    }
}
