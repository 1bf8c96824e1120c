package lunar.osd.s3;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import lunar.osd.s3.backend.StoreBackend;
import lunar.osd.s3.http.Limits;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.signature.TestSigner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server over a store in memory, with requests byte by byte. */
class S3ServerTest {
    private static final String SECRET = "a secret that is in no response";
    private static final Limits LIMITS = new Limits(1 << 20, 100, 1 << 16, Duration.ofSeconds(20));

    private final StoreBackend backend = new StoreBackend();
    private S3Server server;

    /** A response; names of headers in lower case. */
    private record Response(int status, Map<String, String> headers, byte[] body) {
        String text() { return new String(body, UTF_8); }

        String header(String name) { return headers.getOrDefault(name, ""); }
    }

    @BeforeEach
    void start() throws IOException { start(LIMITS); }

    private void start(Limits limits) throws IOException {
        if (server != null) {
            server.close();
        }
        server = S3Server.start(backend, S3Options.DEFAULT
                .withAddress(new InetSocketAddress("127.0.0.1", 0))
                .withKeys(Map.of("key", SECRET)).withAnonymous(true), limits,
                InstantSource.system());
    }

    @AfterEach
    void stop() { server.close(); }

    private Response send(String method, String target, String... headers) throws IOException {
        return send(method, target, new byte[0], headers);
    }

    private Response send(String method, String target, byte[] body, String... headers)
            throws IOException {
        var all = new LinkedHashMap<String, String>();
        all.put("Host", "localhost");
        if (body.length > 0 || method.equals("PUT") || method.equals("POST")) {
            all.put("Content-Length", Integer.toString(body.length));
        }
        for (int i = 0; i < headers.length; i += 2) {
            all.put(headers[i], headers[i + 1]);
        }
        var head = new StringBuilder(method + ' ' + target + " HTTP/1.1\r\n");
        all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        return raw(method, head + "Connection: close\r\n\r\n", body);
    }

    /** Sends bytes and reads the response until the server closes the connection. */
    private Response raw(String method, String head, byte[] body) throws IOException {
        try (var socket = new Socket("127.0.0.1", server.address().getPort())) {
            try {
                socket.getOutputStream().write(head.getBytes(UTF_8));
                socket.getOutputStream().write(body);
                socket.getOutputStream().flush();
            } catch (IOException _) {
                // the server has refused the request already
            }
            return parse(method, socket.getInputStream().readAllBytes());
        }
    }

    private static Response parse(String method, byte[] bytes) {
        String text = new String(bytes, ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        assertThat(end).as("a response: " + text).isPositive();
        String[] lines = text.substring(0, end).split("\r\n", -1);
        var headers = new LinkedHashMap<String, String>();
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            int colon = line.indexOf(':');
            headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        byte[] body = Arrays.copyOfRange(bytes, end + 4, bytes.length);
        if (!method.equals("HEAD") && headers.containsKey("content-length")) {
            assertThat(body).hasSize(Integer.parseInt(headers.get("content-length")));
        }
        return new Response(Integer.parseInt(lines[0].split(" ", -1)[1]), headers, body);
    }

    private static void assertError(Response response, int status, String code) {
        assertThat(response.text()).contains("<Code>" + code + "</Code>").doesNotContain(SECRET);
        assertThat(response.status()).isEqualTo(status);
    }

    private static byte[] random(int length) {
        var data = new byte[length];
        new Random(length).nextBytes(data);
        return data;
    }

    private static byte[] digest(String algorithm, byte[] data) {
        try {
            return MessageDigest.getInstance(algorithm).digest(data);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String md5(byte[] data) { return HexFormat.of().formatHex(digest("MD5", data)); }

    private static String base64(byte[] data) { return Base64.getEncoder().encodeToString(data); }

    private void createBucket() throws IOException {
        assertThat(send("PUT", "/bucket").status()).isEqualTo(200);
    }

    // --- objects ---

    @Test
    void shouldStoreAndReturnObjects() throws IOException {
        createBucket();
        byte[] data = random(300_000);
        Response put = send("PUT", "/bucket/a%20key/%C3%A4", data, "Content-Type", "text/x-test",
                "x-amz-meta-Color", "blue", "Content-MD5", base64(digest("MD5", data)),
                "Cache-Control", "no-store", "Content-Encoding", "aws-chunked,gzip");
        assertThat(put.status()).isEqualTo(200);
        assertThat(put.header("etag")).isEqualTo('"' + md5(data) + '"');
        Response get = send("GET", "/bucket/a%20key/%C3%A4");
        assertThat(get.status()).isEqualTo(200);
        assertThat(get.body()).isEqualTo(data);
        assertThat(get.headers()).containsEntry("content-type", "text/x-test")
                .containsEntry("x-amz-meta-color", "blue")
                .containsEntry("cache-control", "no-store")
                .containsEntry("content-encoding", "gzip")
                .containsEntry("etag", put.header("etag"));
        Response head = send("HEAD", "/bucket/a%20key/%C3%A4");
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        assertThat(head.header("content-length")).isEqualTo("300000");
        assertThat(send("DELETE", "/bucket/a%20key/%C3%A4").status()).isEqualTo(204);
        assertError(send("GET", "/bucket/a%20key/%C3%A4"), 404, "NoSuchKey");
        assertThat(send("HEAD", "/bucket/a%20key/%C3%A4").status()).isEqualTo(404);
        assertThat(send("DELETE", "/bucket/never").status()).isEqualTo(204);
    }

    @Test
    void shouldReturnRangesAndEvaluateConditions() throws IOException {
        createBucket();
        byte[] data = random(1000);
        String etag = send("PUT", "/bucket/k", data).header("etag");
        Response range = send("GET", "/bucket/k", "Range", "bytes=10-19");
        assertThat(range.status()).isEqualTo(206);
        assertThat(range.body()).isEqualTo(Arrays.copyOfRange(data, 10, 20));
        assertThat(range.header("content-range")).isEqualTo("bytes 10-19/1000");
        assertThat(send("GET", "/bucket/k", "Range", "bytes=-1").body())
                .isEqualTo(Arrays.copyOfRange(data, 999, 1000));
        assertError(send("GET", "/bucket/k", "Range", "bytes=1000-"), 416, "InvalidRange");
        assertThat(send("GET", "/bucket/k", "If-None-Match", etag).status()).isEqualTo(304);
        assertError(send("GET", "/bucket/k", "If-Match", "\"other\""), 412, "PreconditionFailed");
        assertThat(send("GET", "/bucket/k", "If-Match", etag).status()).isEqualTo(200);
        assertThat(send("GET", "/bucket/k", "Range", "bytes=0-0", "If-Range", "\"other\"").body())
                .hasSize(1000);
        assertThat(send("GET", "/bucket/k?response-content-type=text/html").header("content-type"))
                .isEqualTo("text/html");
        assertError(send("GET", "/bucket/k?response-content-type=a%0d%0ab:c"), 400,
                "InvalidArgument");
    }

    @Test
    void shouldStoreNothingWhoseDigestIsWrong() throws IOException {
        createBucket();
        byte[] data = random(100_000);
        byte[] other = random(100_001);
        assertError(send("PUT", "/bucket/k", data, "Content-MD5", base64(digest("MD5", other))),
                400, "BadDigest");
        assertError(send("PUT", "/bucket/k", data, "Content-MD5", "abc"), 400, "InvalidDigest");
        assertError(send("PUT", "/bucket/k", data, "x-amz-checksum-sha256",
                base64(digest("SHA-256", other))), 400, "BadDigest");
        assertError(send("PUT", "/bucket/k", data, "x-amz-content-sha256",
                HexFormat.of().formatHex(digest("SHA-256", other))), 400,
                "XAmzContentSHA256Mismatch");
        assertError(send("GET", "/bucket/k"), 404, "NoSuchKey");
        assertThat(backend.count(1L << 61, 1L << 62)).isZero();
        Response right = send("PUT", "/bucket/k", data, "x-amz-checksum-sha256",
                base64(digest("SHA-256", data)));
        assertThat(right.status()).isEqualTo(200);
        assertThat(send("GET", "/bucket/k", "x-amz-checksum-mode", "ENABLED")
                .header("x-amz-checksum-sha256")).isEqualTo(base64(digest("SHA-256", data)));
    }

    @Test
    void shouldVerifyChecksumsInTrailers() throws IOException {
        createBucket();
        var crc = new CRC32();
        crc.update("hello".getBytes(UTF_8));
        int value = (int) crc.getValue();
        String right = base64(new byte[]{(byte) (value >> 24), (byte) (value >> 16),
                (byte) (value >> 8), (byte) value});
        assertThat(putWithTrailer("hello", "x-amz-checksum-crc32:" + right).status())
                .isEqualTo(200);
        assertThat(send("GET", "/bucket/k").text()).isEqualTo("hello");
        assertError(putWithTrailer("HELLO", "x-amz-checksum-crc32:" + right), 400, "BadDigest");
        assertError(putWithTrailer("HELLO", "x-amz-checksum-crc32c:" + right), 400,
                "InvalidRequest");
        assertThat(send("GET", "/bucket/k").text()).isEqualTo("hello");
    }

    private Response putWithTrailer(String data, String trailer) throws IOException {
        String body = Integer.toHexString(data.length()) + "\r\n" + data + "\r\n0\r\n" + trailer
                + "\r\n\r\n";
        return send("PUT", "/bucket/k", body.getBytes(UTF_8), "x-amz-content-sha256",
                "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length",
                Integer.toString(data.length()), "x-amz-trailer", "x-amz-checksum-crc32");
    }

    @Test
    void shouldCreateOnlyWhereNothingIs() throws IOException {
        createBucket();
        assertThat(send("PUT", "/bucket/k", random(5), "If-None-Match", "*").status())
                .isEqualTo(200);
        assertError(send("PUT", "/bucket/k", random(6), "If-None-Match", "*"), 412,
                "PreconditionFailed");
        assertThat(send("GET", "/bucket/k").body()).hasSize(5);
    }

    @Test
    void shouldCopyObjects() throws IOException {
        createBucket();
        byte[] data = random(70_000);
        assertThat(send("PUT", "/bucket/from", data, "x-amz-meta-a", "1").status()).isEqualTo(200);
        assertThat(send("PUT", "/bucket/to", "x-amz-copy-source", "/bucket/fr%6fm").text())
                .contains("<CopyObjectResult").contains(md5(data));
        Response copy = send("GET", "/bucket/to");
        assertThat(copy.body()).isEqualTo(data);
        assertThat(copy.header("x-amz-meta-a")).isEqualTo("1");
        assertError(send("PUT", "/bucket/to", "x-amz-copy-source", "bucket/to"), 400,
                "InvalidRequest");
        assertThat(send("PUT", "/bucket/to", "x-amz-copy-source", "bucket/to",
                "x-amz-metadata-directive", "REPLACE", "x-amz-meta-b", "2").status())
                .isEqualTo(200);
        Response changed = send("GET", "/bucket/to");
        assertThat(changed.body()).isEqualTo(data);
        assertThat(changed.headers()).containsEntry("x-amz-meta-b", "2")
                .doesNotContainKey("x-amz-meta-a");
        assertError(send("PUT", "/bucket/x", "x-amz-copy-source", "bucket/none"), 404,
                "NoSuchKey");
        assertError(send("PUT", "/bucket/x", "x-amz-copy-source", "bucket/from",
                "x-amz-copy-source-if-match", "other"), 412, "PreconditionFailed");
    }

    // --- buckets and lists ---

    @Test
    void shouldManageBuckets() throws IOException {
        createBucket();
        assertError(send("PUT", "/bucket"), 409, "BucketAlreadyOwnedByYou");
        assertError(send("PUT", "/Bad_Name"), 400, "InvalidBucketName");
        assertThat(send("GET", "/").text()).contains("<Name>bucket</Name>");
        assertThat(send("HEAD", "/bucket").status()).isEqualTo(200);
        assertThat(send("HEAD", "/other").status()).isEqualTo(404);
        assertThat(send("GET", "/bucket?location").text()).contains("<LocationConstraint");
        assertThat(send("PUT", "/bucket/k", random(1)).status()).isEqualTo(200);
        assertError(send("DELETE", "/bucket"), 409, "BucketNotEmpty");
        assertThat(send("DELETE", "/bucket/k").status()).isEqualTo(204);
        assertThat(send("DELETE", "/bucket").status()).isEqualTo(204);
        assertError(send("PUT", "/bucket/k", random(1)), 404, "NoSuchBucket");
    }

    @Test
    void shouldTakeBucketFromHost() throws IOException {
        createBucket();
        assertThat(send("PUT", "/k/x", random(9), "Host", "bucket.localhost:9000").status())
                .isEqualTo(200);
        assertThat(send("GET", "/bucket/k/x").body()).isEqualTo(random(9));
    }

    private static List<String> all(Response response, String element) {
        Matcher matcher = Pattern.compile('<' + element + ">([^<]*)</").matcher(response.text());
        return matcher.results().map(match -> match.group(1)).toList();
    }

    @Test
    void shouldListObjects() throws IOException {
        createBucket();
        for (String key : List.of("a", "b/1", "b/2", "b%26", "c")) {
            assertThat(send("PUT", "/bucket/" + key, random(3)).status()).isEqualTo(200);
        }
        Response v1 = send("GET", "/bucket?delimiter=/&max-keys=2");
        assertThat(all(v1, "Key")).containsExactly("a", "b&amp;");
        assertThat(all(v1, "NextMarker")).containsExactly("b&amp;");
        Response rest = send("GET", "/bucket?delimiter=/&marker=b%26&encoding-type=url");
        assertThat(all(rest, "Key")).containsExactly("c");
        assertThat(all(rest, "Prefix")).contains("b/");
        Response v2 = send("GET", "/bucket?list-type=2&prefix=b&max-keys=2");
        assertThat(all(v2, "KeyCount")).containsExactly("2");
        String token = all(v2, "NextContinuationToken").getFirst();
        Response next = send("GET", "/bucket?list-type=2&prefix=b&continuation-token=" + token);
        assertThat(all(next, "Key")).containsExactly("b/2");
        assertThat(all(next, "IsTruncated")).containsExactly("false");
        assertThat(all(send("GET", "/bucket?list-type=2&start-after=b/2"), "Key"))
                .containsExactly("c");
        assertThat(all(next, "ETag").getFirst()).contains(md5(random(3)));
        assertError(send("GET", "/bucket?list-type=2&continuation-token=%2a"), 400,
                "InvalidArgument");
        assertError(send("GET", "/bucket?max-keys=-1"), 400, "InvalidArgument");
    }

    @Test
    void shouldDeleteSeveralObjects() throws IOException {
        createBucket();
        assertThat(send("PUT", "/bucket/a", random(1)).status()).isEqualTo(200);
        String document = "<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object>"
                + "</Delete>";
        Response deleted = send("POST", "/bucket?delete", document.getBytes(UTF_8));
        assertThat(all(deleted, "Key")).containsExactly("a", "none");
        assertError(send("GET", "/bucket/a"), 404, "NoSuchKey");
        assertError(send("POST", "/bucket?delete", document.getBytes(UTF_8), "Origin",
                "http://example.org"), 403, "AccessDenied");
        assertError(send("POST", "/bucket?delete",
                "<!DOCTYPE a [<!ENTITY b 'c'>]><Delete>&b;</Delete>".getBytes(UTF_8)), 400,
                "MalformedXML");
        assertError(send("POST", "/bucket?delete", new byte[LIMITS.maxDocumentBytes() + 1]), 400,
                "EntityTooLarge");
    }

    @Test
    void shouldUploadInParts() throws IOException {
        createBucket();
        String id = all(send("POST", "/bucket/big?uploads", new byte[0], "Content-Type", "x/y"),
                "UploadId").getFirst();
        var etags = new String[2];
        for (int part = 1; part <= 2; part++) {
            etags[part - 1] = send("PUT", "/bucket/big?partNumber=" + part + "&uploadId=" + id,
                    random(100 * part)).header("etag");
        }
        assertThat(all(send("GET", "/bucket?uploads"), "UploadId")).containsExactly(id);
        Response parts = send("GET", "/bucket/big?uploadId=" + id);
        assertThat(all(parts, "Size")).containsExactly("100", "200");
        assertThat(send("PUT", "/bucket/big?partNumber=3&uploadId=" + id, "x-amz-copy-source",
                "bucket/none").status()).isEqualTo(404);
        String document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                + etags[0].replace("\"", "&quot;") + "</ETag></Part><Part><PartNumber>2"
                + "</PartNumber><ETag>" + etags[1] + "</ETag></Part></CompleteMultipartUpload>";
        Response done = send("POST", "/bucket/big?uploadId=" + id, document.getBytes(UTF_8));
        assertThat(done.status()).isEqualTo(200);
        assertThat(done.text()).contains("-2");
        assertThat(send("POST", "/bucket/big?uploadId=" + id, document.getBytes(UTF_8)).status())
                .as("a repeated completion").isEqualTo(200);
        Response get = send("GET", "/bucket/big");
        assertThat(get.body()).startsWith(random(100)).endsWith(random(200)).hasSize(300);
        assertThat(get.header("content-type")).isEqualTo("x/y");
        assertThat(send("GET", "/bucket/big", "Range", "bytes=90-109").body())
                .isEqualTo(Arrays.copyOfRange(get.body(), 90, 110));
        assertError(send("PUT", "/bucket/big?partNumber=1&uploadId=" + id, random(1)), 404,
                "NoSuchUpload");
        assertError(send("PUT", "/bucket/big?partNumber=10001&uploadId=" + id, random(1)), 400,
                "InvalidArgument");
    }

    @Test
    void shouldCopyPartsAndAbort() throws IOException {
        createBucket();
        byte[] data = random(1000);
        assertThat(send("PUT", "/bucket/from", data).status()).isEqualTo(200);
        String id = all(send("POST", "/bucket/big?uploads"), "UploadId").getFirst();
        Response part = send("PUT", "/bucket/big?partNumber=1&uploadId=" + id, "x-amz-copy-source",
                "/bucket/from", "x-amz-copy-source-range", "bytes=100-199");
        assertThat(part.text()).contains("<CopyPartResult")
                .contains(md5(Arrays.copyOfRange(data, 100, 200)));
        assertThat(send("DELETE", "/bucket/big?uploadId=" + id).status()).isEqualTo(204);
        assertError(send("GET", "/bucket/big?uploadId=" + id), 404, "NoSuchUpload");
        assertThat(backend.count(1L << 61, 1L << 62)).isEqualTo(1);
    }

    // --- authentication ---

    private Response signed(String method, String path, String query, String payload, byte[] body,
            TestSigner signer) throws IOException, S3Exception {
        Map<String, String> headers = signer.sign(method, path, query, Map.of("host", "localhost"),
                payload, Instant.now());
        var pairs = headers.entrySet().stream().filter(each -> !each.getKey().equals("host"))
                .flatMap(each -> List.of(each.getKey(), each.getValue()).stream())
                .toArray(String[]::new);
        return send(method, path + (query.isEmpty() ? "" : "?" + query), body, pairs);
    }

    @Test
    void shouldAuthenticateRequests() throws IOException, S3Exception {
        var signer = new TestSigner("key", SECRET);
        byte[] data = random(100);
        String hash = HexFormat.of().formatHex(digest("SHA-256", data));
        String none = HexFormat.of().formatHex(digest("SHA-256", new byte[0]));
        assertThat(signed("PUT", "/signed", "", none, new byte[0], signer).status())
                .isEqualTo(200);
        assertThat(signed("PUT", "/signed/a%2Fb%20c", "", hash, data, signer).status())
                .isEqualTo(200);
        assertThat(signed("GET", "/signed", "prefix=a%2F&list-type=2", none, new byte[0], signer)
                .text()).contains("a/b c");
        assertError(signed("PUT", "/signed/x", "", hash, random(101), signer), 400,
                "XAmzContentSHA256Mismatch");
        assertError(signed("GET", "/signed", "", none, new byte[0],
                new TestSigner("key", "wrong")), 403, "SignatureDoesNotMatch");
        assertError(signed("GET", "/signed", "", none, new byte[0],
                new TestSigner("other", SECRET)), 403, "InvalidAccessKeyId");
    }

    @Test
    void shouldRefuseAnonymousRequestsUnlessPermitted() throws IOException {
        server.close();
        server = S3Server.start(backend, S3Options.DEFAULT
                .withAddress(new InetSocketAddress("127.0.0.1", 0))
                .withKeys(Map.of("key", SECRET)));
        assertError(send("GET", "/"), 403, "AccessDenied");
        assertError(send("PUT", "/bucket"), 403, "AccessDenied");
        assertError(send("PUT", "/bucket/k", random(200_000)), 403, "AccessDenied");
        assertThatThrownBy(() -> S3Server.start(backend, S3Options.DEFAULT))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(S3Options.DEFAULT.withKeys(Map.of("key", SECRET)).toString())
                .doesNotContain(SECRET);
    }

    @Test
    void shouldReadPrivateFilesOfKeysAlone(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("keys"),
                "# comment\n\nkey  secret\nother\tsecret2\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> AccessKeyFile.read(file)).isInstanceOf(IOException.class)
                .hasMessageContaining("chmod");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(AccessKeyFile.read(file))
                .isEqualTo(Map.of("key", "secret", "other", "secret2"));
        Files.writeString(file, "key secret too-much\n");
        assertThatThrownBy(() -> AccessKeyFile.read(file)).hasMessageContaining("line 1")
                .hasMessageNotContaining("secret too");
    }

    // --- what is not supported, and hostile clients ---

    @Test
    void shouldAnswerNotImplemented() throws IOException {
        createBucket();
        for (String target : List.of("/bucket?acl", "/bucket?policy", "/bucket?versioning",
                "/bucket?lifecycle", "/bucket/k?tagging", "/bucket/k?versionId=1",
                "/bucket?x=y")) {
            assertError(send("GET", target), 501, "NotImplemented");
        }
        assertError(send("PUT", "/bucket/k", random(1), "x-amz-server-side-encryption", "AES256"),
                501, "NotImplemented");
        assertError(send("PUT", "/bucket/k", random(1), "x-amz-acl", "public-read"), 501,
                "NotImplemented");
        assertError(send("POST", "/bucket"), 501, "NotImplemented");
        assertError(send("OPTIONS", "/bucket/k"), 501, "NotImplemented");
        assertThat(send("PUT", "/bucket/k", random(1), "x-amz-acl", "private",
                "x-amz-storage-class", "STANDARD").status()).isEqualTo(200);
    }

    @Test
    void shouldTreatPathsAsKeys() throws IOException {
        createBucket();
        for (String key : List.of("../../etc/passwd", "..%2f..%2fx", "/x", "a//b", "%00", ".",
                "%2e%2e/")) {
            assertThat(send("PUT", "/bucket/" + key, key.getBytes(UTF_8)).status())
                    .as(key).isEqualTo(200);
            assertThat(send("GET", "/bucket/" + key).text()).as(key).isEqualTo(key);
        }
        assertThat(all(send("GET", "/bucket?encoding-type=url"), "Key")).hasSize(7)
                .contains("../../etc/passwd", "../../x", "%00");
        assertError(send("PUT", "/bucket/" + "k".repeat(1025), random(1)), 400, "KeyTooLongError");
        assertError(send("PUT", "/bucket/%ff", random(1)), 400, "InvalidURI");
        assertThat(send("PUT", "/bucket/" + "k".repeat(1024), random(1)).status()).isEqualTo(200);
    }

    @Test
    void shouldRefuseLyingLengths() throws IOException {
        createBucket();
        assertError(send("PUT", "/bucket/k", random(1), "Content-Length",
                Long.toString(1L << 40)), 400, "EntityTooLarge");
        assertError(send("PUT", "/bucket/k", random(10), "x-amz-content-sha256",
                "STREAMING-UNSIGNED-PAYLOAD-TRAILER"), 411, "MissingContentLength");
        String chunk = "5\r\nhello\r\n0\r\n\r\n";
        for (String length : List.of("4", "6", "999")) {
            assertError(send("PUT", "/bucket/k", chunk.getBytes(UTF_8), "x-amz-content-sha256",
                    "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length", length),
                    400, "IncompleteBody");
        }
        assertError(send("PUT", "/bucket/k", chunk.getBytes(UTF_8), "x-amz-content-sha256",
                "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length", "-5"), 400,
                "InvalidArgument");
        assertThat(send("GET", "/bucket/k").status()).isEqualTo(404);
        assertThat(backend.count(1L << 61, 1L << 62)).isZero();
    }

    @Test
    void shouldDiscardUploadThatEndsEarly() throws IOException {
        createBucket();
        try (var socket = new Socket("127.0.0.1", server.address().getPort())) {
            socket.getOutputStream().write(("PUT /bucket/k HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Length: 500000\r\n\r\n").getBytes(UTF_8));
            socket.getOutputStream().write(random(400_000));
            socket.shutdownOutput();
            String response = new String(socket.getInputStream().readAllBytes(), UTF_8);
            assertThat(response).doesNotContain("200 OK");
        }
        assertThat(send("GET", "/bucket/k").status()).isEqualTo(404);
        assertThat(backend.count(1L << 61, 1L << 62)).isZero();
    }

    @Test
    void shouldRefuseEndlessHeaders() throws IOException {
        var head = new StringBuilder("GET / HTTP/1.1\r\nHost: localhost\r\n");
        for (int i = 0; i < 5000; i++) {
            head.append("x-header-").append(i).append(": ").append("v".repeat(50)).append("\r\n");
        }
        try (var socket = new Socket("127.0.0.1", server.address().getPort())) {
            String response;
            try {
                socket.getOutputStream().write((head + "\r\n").getBytes(UTF_8));
                response = new String(socket.getInputStream().readAllBytes(), UTF_8);
            } catch (IOException _) {
                response = ""; // reset, because the server did not read it all
            }
            assertThat(response).doesNotContain("200 OK");
        }
        assertThat(send("GET", "/").status()).isEqualTo(200);
    }

    @Test
    void shouldRefuseTooMuchMetadata() throws IOException {
        createBucket();
        assertError(send("PUT", "/bucket/k", random(1), "x-amz-meta-a", "v".repeat(2048)), 400,
                "MetadataTooLarge");
        assertError(send("PUT", "/bucket/k", random(1), "Cache-Control", "v".repeat(4097)), 400,
                "MetadataTooLarge");
        assertThat(send("PUT", "/bucket/k", random(1), "x-amz-meta-a", "v".repeat(2047)).status())
                .isEqualTo(200);
    }

    /** A client that stops sending in the head or in the body is disconnected, and its upload discarded. */
    @Test
    void shouldDisconnectClientsThatStall() throws IOException {
        createBucket();
        start(new Limits(1 << 20, 100, 1 << 16, Duration.ofMillis(300)));
        for (String request : List.of("GET / HT", "PUT /bucket/k HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Length: 100\r\n\r\nsome")) {
            try (var socket = new Socket("127.0.0.1", server.address().getPort())) {
                socket.getOutputStream().write(request.getBytes(UTF_8));
                InputStream in = socket.getInputStream();
                byte[] response;
                try {
                    response = in.readAllBytes(); // ends
                } catch (SocketException _) {
                    response = new byte[0]; // reset, since it was disconnected before it sent all
                }
                assertThat(response).as(request).isEmpty();
            }
        }
        start(LIMITS);
        assertThat(send("GET", "/bucket/k").status()).isEqualTo(404);
    }

    @Test
    void shouldAnswerFailuresOfTheDevice() throws IOException {
        createBucket();
        assertThat(send("PUT", "/bucket/k", random(10)).status()).isEqualTo(200);
        backend.failAfter(0, StoreBackend.Failure.BEFORE);
        assertError(send("PUT", "/bucket/k", random(11)), 500, "InternalError");
        backend.failAfter(Integer.MAX_VALUE, StoreBackend.Failure.BEFORE);
        assertThat(send("GET", "/bucket/k").body()).isEqualTo(random(10));
    }
}
