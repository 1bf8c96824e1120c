package lunar.osd.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.osd.s3.backend.StoreBackend;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.RunningChecksum;
import lunar.osd.s3.http.Limits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checksums of multipart objects, conditions of copies, hosts of requests, and losses of the device. */
class S3IntegrityTest {
    private static final Limits LIMITS = new Limits(1 << 20, 1, 1 << 16, Duration.ofSeconds(20));
    private static final int[] LENGTHS = {1000, 1, 77};

    private final StoreBackend backend = new StoreBackend();
    private S3Server server;

    @BeforeEach
    void start() throws IOException {
        server = S3Server.start(backend, S3Options.DEFAULT
                .withAddress(new InetSocketAddress("127.0.0.1", 0)).withAnonymous(true), LIMITS,
                InstantSource.system());
        assertStatus(send("PUT", "/bucket", new byte[0]), 200, "");
    }

    @AfterEach
    void stop() { server.close(); }

    /** A response; headers by any case of their names. */
    private record Reply(int statusCode, HttpURLConnection connection, String body) {}

    private Reply send(String method, String target, byte[] body,
            String... headers) throws IOException {
        var connection = (HttpURLConnection) URI
                .create("http://127.0.0.1:" + server.address().getPort() + target).toURL()
                .openConnection();
        connection.setRequestMethod(method);
        connection.setReadTimeout(60_000);
        for (int i = 0; i < headers.length; i += 2) {
            connection.setRequestProperty(headers[i], headers[i + 1]);
        }
        if (method.equals("PUT") || method.equals("POST")) {
            connection.setDoOutput(true);
            connection.setFixedLengthStreamingMode(body.length);
            connection.getOutputStream().write(body);
        }
        int status = connection.getResponseCode();
        try (InputStream in = status < 400
                ? connection.getInputStream()
                : connection.getErrorStream()) {
            return new Reply(status, connection, new String(in.readAllBytes(), UTF_8));
        }
    }

    private Reply send(String method, String target, String... headers)
            throws IOException {
        return send(method, target, new byte[0], headers);
    }

    private static void assertStatus(Reply response, int status, String code) {
        assertThat(response.body()).contains(code);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    }

    private static String header(Reply response, String name) {
        return Objects.requireNonNullElse(response.connection().getHeaderField(name), "");
    }

    private static String element(Reply response, String name) {
        Matcher found = Pattern.compile("<" + name + ">(.*?)</" + name + ">")
                .matcher(response.body());
        return found.find() ? found.group(1) : "";
    }

    private static byte[] part(int number) {
        var data = new byte[LENGTHS[number - 1]];
        new Random(number).nextBytes(data);
        return data;
    }

    private static byte[] sum(ChecksumAlgorithm algorithm, byte[]... pieces) {
        RunningChecksum sum = algorithm.start();
        for (byte[] each : pieces) {
            sum.update(each, 0, each.length);
        }
        return sum.value();
    }

    private static String text(byte[] value) { return Base64.getEncoder().encodeToString(value); }

    private static String composite(ChecksumAlgorithm algorithm) {
        return text(sum(algorithm, sum(algorithm, part(1)), sum(algorithm, part(2)),
                sum(algorithm, part(3)))) + "-3";
    }

    private static String whole(ChecksumAlgorithm algorithm) {
        return text(sum(algorithm, part(1), part(2), part(3)));
    }

    private String create(String... headers) throws IOException {
        Reply created = send("POST", "/bucket/key?uploads", headers);
        assertStatus(created, 200, "UploadId");
        return element(created, "UploadId");
    }

    private String target(String upload) { return "/bucket/key?uploadId=" + upload; }

    private String putParts(String upload, String... headers) throws IOException {
        var document = new StringBuilder("<CompleteMultipartUpload>");
        for (int number = 1; number <= LENGTHS.length; number++) {
            Reply part = send("PUT", target(upload) + "&partNumber=" + number,
                    part(number), headers);
            assertStatus(part, 200, "");
            document.append("<Part><PartNumber>").append(number).append("</PartNumber><ETag>")
                    .append(header(part, "etag")).append("</ETag></Part>");
        }
        return document.append("</CompleteMultipartUpload>").toString();
    }

    private Reply complete(String upload, String document, String... headers)
            throws IOException {
        return send("POST", target(upload), document.getBytes(UTF_8), headers);
    }

    @ParameterizedTest
    @EnumSource(names = {"CRC32", "CRC32C", "SHA1", "SHA256"})
    void shouldComputeCompositeChecksums(ChecksumAlgorithm algorithm) throws IOException {
        String upload = create("x-amz-checksum-algorithm", algorithm.name());
        String document = putParts(upload); // without checksums: the server computes them
        Reply list = send("GET", target(upload));
        assertThat(element(list, "ChecksumType")).isEqualTo("COMPOSITE");
        assertThat(element(list, algorithm.element())).isEqualTo(text(sum(algorithm, part(1))));
        assertStatus(complete(upload, document, algorithm.header(), whole(algorithm)), 400,
                "BadDigest");
        assertStatus(complete(upload, document, "x-amz-checksum-type", "FULL_OBJECT"), 400,
                "InvalidRequest");
        Reply done = complete(upload, document, algorithm.header(),
                composite(algorithm), "x-amz-checksum-type", "COMPOSITE", "x-amz-mp-object-size",
                "1078");
        assertStatus(done, 200, composite(algorithm));
        assertThat(element(done, "ChecksumType")).isEqualTo("COMPOSITE");
        Reply get = send("GET", "/bucket/key", "x-amz-checksum-mode", "ENABLED");
        assertThat(header(get, algorithm.header())).isEqualTo(composite(algorithm));
        assertThat(header(get, "x-amz-checksum-type")).isEqualTo("COMPOSITE");
    }

    @ParameterizedTest
    @EnumSource(names = {"CRC32", "CRC32C", "CRC64NVME"})
    void shouldComputeChecksumsOfWholeObjects(ChecksumAlgorithm algorithm) throws IOException {
        String upload = create("x-amz-checksum-algorithm",
                algorithm.name().toLowerCase(Locale.ROOT), "x-amz-checksum-type", "FULL_OBJECT");
        String document = putParts(upload);
        assertStatus(complete(upload, document, algorithm.header(),
                text(new byte[algorithm.length()])), 400, "BadDigest");
        assertStatus(complete(upload, document, "x-amz-mp-object-size", "1079"), 400,
                "InvalidRequest");
        Reply done = complete(upload, document, algorithm.header(),
                whole(algorithm));
        assertStatus(done, 200, whole(algorithm));
        Reply head = send("HEAD", "/bucket/key", "x-amz-checksum-mode", "ENABLED");
        assertThat(header(head, algorithm.header())).isEqualTo(whole(algorithm));
        assertThat(header(head, "x-amz-checksum-type")).isEqualTo("FULL_OBJECT");
    }

    @Test
    void shouldTakeTheKindOfChecksumFromTheCompletion() throws IOException {
        ChecksumAlgorithm crc = ChecksumAlgorithm.CRC32C;
        String upload = create();
        var document = new ArrayList<String>();
        for (int number = 1; number <= 3; number++) {
            String checksum = text(sum(crc, part(number)));
            Reply part = send("PUT", target(upload) + "&partNumber=" + number,
                    part(number), crc.header(), checksum);
            assertThat(header(part, crc.header())).isEqualTo(checksum);
            document.add("<Part><PartNumber>" + number + "</PartNumber><ETag>"
                    + header(part, "etag") + "</ETag><ChecksumCRC32C>" + checksum
                    + "</ChecksumCRC32C></Part>");
        }
        String all = "<CompleteMultipartUpload>" + String.join("", document)
                + "</CompleteMultipartUpload>";
        assertStatus(complete(upload, all, "x-amz-checksum-sha256", "AAAA"), 400,
                "InvalidRequest");
        assertStatus(complete(upload, all, crc.header(), whole(crc)), 200, whole(crc));
    }

    @Test
    void shouldRefuseChecksumsThatContradict() throws IOException {
        for (List<String> headers : List.of(
                List.of("x-amz-checksum-algorithm", "CRC128"),
                List.of("x-amz-checksum-algorithm", "CRC32", "x-amz-checksum-type", "HALF"),
                List.of("x-amz-checksum-algorithm", "SHA256", "x-amz-checksum-type",
                        "FULL_OBJECT"),
                List.of("x-amz-checksum-algorithm", "CRC64NVME", "x-amz-checksum-type",
                        "COMPOSITE"),
                List.of("x-amz-checksum-type", "COMPOSITE"))) {
            assertStatus(send("POST", "/bucket/key?uploads", headers.toArray(String[]::new)), 400,
                    "InvalidRequest");
        }
        String upload = create("x-amz-checksum-algorithm", "CRC32");
        assertStatus(send("PUT", target(upload) + "&partNumber=1", part(1),
                "x-amz-checksum-sha256", text(sum(ChecksumAlgorithm.SHA256, part(1)))), 400,
                "InvalidRequest");
    }

    @Test
    void shouldComputeTheChecksumOfACopy() throws IOException {
        String upload = create("x-amz-checksum-algorithm", "SHA256");
        assertStatus(complete(upload, putParts(upload)), 200, composite(ChecksumAlgorithm.SHA256));
        assertStatus(send("PUT", "/bucket/copy", "x-amz-copy-source", "bucket/key"), 200,
                whole(ChecksumAlgorithm.SHA256));
        assertStatus(send("PUT", "/bucket/copy", "x-amz-copy-source", "bucket/key",
                "x-amz-checksum-algorithm", "CRC64NVME"), 200, whole(ChecksumAlgorithm.CRC64NVME));
        String parts = create("x-amz-checksum-algorithm", "CRC32");
        assertStatus(send("PUT", target(parts) + "&partNumber=1", "x-amz-copy-source",
                "bucket/key", "x-amz-copy-source-range", "bytes=0-999"), 200,
                text(sum(ChecksumAlgorithm.CRC32, part(1))));
    }

    @Test
    void shouldEvaluateConditionsOfACopyOntoItself() throws IOException {
        byte[] data = part(1);
        String etag = header(send("PUT", "/bucket/key", data), "etag");
        String[] copy = {"x-amz-copy-source", "bucket/key", "x-amz-metadata-directive", "REPLACE",
                "x-amz-meta-a", "1"};
        for (String[] condition : List.of(
                new String[]{"x-amz-copy-source-if-match", "other"},
                new String[]{"x-amz-copy-source-if-none-match", etag},
                new String[]{"x-amz-copy-source-if-unmodified-since",
                        "Sun, 01 Jan 2006 00:00:00 GMT"},
                new String[]{"if-match", "other"}, new String[]{"if-none-match", "*"})) {
            assertStatus(send("PUT", "/bucket/key", with(copy, condition)), 412,
                    "PreconditionFailed");
        }
        assertThat(header(send("HEAD", "/bucket/key"), "x-amz-meta-a")).isEmpty();
        assertStatus(send("PUT", "/bucket/key", with(copy, "if-match", etag,
                "x-amz-copy-source-if-match", etag)), 200, "CopyObjectResult");
        assertThat(header(send("HEAD", "/bucket/key"), "x-amz-meta-a")).isEqualTo("1");
    }

    private static String[] with(String[] headers, String... others) {
        String[] all = Arrays.copyOf(headers, headers.length + others.length);
        System.arraycopy(others, 0, all, headers.length, others.length);
        return all;
    }

    @Test
    void shouldLetClientRepeatARequestThatTheDeviceMayHaveLost() throws IOException {
        backend.beforeFlush(_ -> backend.reportLoss());
        assertStatus(send("PUT", "/bucket/key", part(1)), 503, "ServiceUnavailable");
        backend.beforeFlush(_ -> {});
        assertStatus(send("GET", "/bucket/key"), 404, "NoSuchKey");
        assertStatus(send("PUT", "/bucket/key", part(1)), 200, "");
    }
}
