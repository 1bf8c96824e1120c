package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.ChecksumType;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/** The AWS SDK for Java, with its defaults: checksums in trailing headers, signed chunks. */
class S3SdkIT {
    private static final StaticCredentialsProvider CREDENTIALS = StaticCredentialsProvider
            .create(AwsBasicCredentials.create(S3Store.KEY, S3Store.SECRET));

    @TempDir
    private Path folder;
    private S3Store store;
    private S3Client client;

    @BeforeEach
    void start() throws IOException {
        store = new S3Store(folder.resolve("objects"));
        client = S3Client.builder().endpointOverride(endpoint()).forcePathStyle(true)
                .region(Region.US_EAST_1).credentialsProvider(CREDENTIALS)
                .httpClient(UrlConnectionHttpClient.create()).build();
        var _ = client.createBucket(request -> request.bucket("bucket"));
    }

    private URI endpoint() { return URI.create("http://" + store.address()); }

    @AfterEach
    void stop() throws IOException {
        client.close();
        store.close();
    }

    private static byte[] random(int length) {
        var data = new byte[length];
        new Random(length).nextBytes(data);
        return data;
    }

    private byte[] get(String key) {
        return client.getObjectAsBytes(request -> request.bucket("bucket").key(key)).asByteArray();
    }

    @Test
    void shouldStoreObjectsWithEveryChecksum() {
        byte[] data = random(3_000_000);
        for (ChecksumAlgorithm algorithm : List.of(ChecksumAlgorithm.CRC32,
                ChecksumAlgorithm.SHA1, ChecksumAlgorithm.SHA256)) {
            String key = "a key/" + algorithm;
            var _ = client.putObject(request -> request.bucket("bucket").key(key)
                    .checksumAlgorithm(algorithm).contentType("text/x-test")
                    .metadata(Map.of("color", "blue")), RequestBody.fromBytes(data));
            assertThat(get(key)).isEqualTo(data);
            var head = client.headObject(request -> request.bucket("bucket").key(key));
            assertThat(head.contentLength()).isEqualTo(data.length);
            assertThat(head.contentType()).isEqualTo("text/x-test");
            assertThat(head.metadata()).containsEntry("color", "blue");
        }
        assertThat(client.getObjectAsBytes(request -> request.bucket("bucket").key("a key/SHA1")
                .range("bytes=1000-1999")).asByteArray())
                .isEqualTo(Arrays.copyOfRange(data, 1000, 2000));
    }

    @Test
    void shouldListCopyAndDelete() {
        for (int i = 0; i < 25; i++) {
            String key = "k" + i % 5 + "/" + i;
            var _ = client.putObject(request -> request.bucket("bucket").key(key),
                    RequestBody.fromString(key));
        }
        assertThat(client.listObjectsV2Paginator(
                request -> request.bucket("bucket").maxKeys(7)).contents().stream()
                .map(S3Object::key)).hasSize(25).isSorted();
        assertThat(client.listObjectsV2(request -> request.bucket("bucket").delimiter("/"))
                .commonPrefixes()).hasSize(5);
        var _ = client.copyObject(request -> request.sourceBucket("bucket").sourceKey("k1/1")
                .destinationBucket("bucket").destinationKey("copy"));
        assertThat(get("copy")).isEqualTo("k1/1".getBytes(StandardCharsets.UTF_8));
        List<ObjectIdentifier> all = client.listObjectsV2(request -> request.bucket("bucket"))
                .contents().stream()
                .map(each -> ObjectIdentifier.builder().key(each.key()).build()).toList();
        assertThat(client.deleteObjects(request -> request.bucket("bucket")
                .delete(delete -> delete.objects(all))).deleted()).hasSize(26);
        assertThatThrownBy(() -> get("copy")).isInstanceOf(NoSuchKeyException.class);
        var _ = client.deleteBucket(request -> request.bucket("bucket"));
    }

    @Test
    void shouldUploadInParts() {
        String id = client.createMultipartUpload(request -> request.bucket("bucket").key("big"))
                .uploadId();
        byte[] data = random((5 << 20) + 12_345);
        var parts = new ArrayList<CompletedPart>();
        for (int i = 0; i < 2; i++) {
            int number = i + 1;
            byte[] part = Arrays.copyOfRange(data, i * (5 << 20),
                    Math.min(data.length, number * (5 << 20)));
            String etag = client.uploadPart(request -> request.bucket("bucket").key("big")
                    .uploadId(id).partNumber(number), RequestBody.fromBytes(part)).eTag();
            parts.add(CompletedPart.builder().partNumber(number).eTag(etag).build());
        }
        assertThat(client.listMultipartUploads(request -> request.bucket("bucket")).uploads())
                .hasSize(1);
        assertThat(client.completeMultipartUpload(request -> request.bucket("bucket").key("big")
                .uploadId(id).multipartUpload(upload -> upload.parts(parts))).eTag())
                .endsWith("-2\"");
        assertThat(get("big")).isEqualTo(data);
    }

    @ParameterizedTest
    @CsvSource({"CRC32,COMPOSITE", "SHA256,COMPOSITE", "CRC32,FULL_OBJECT"})
    void shouldVerifyChecksumsOfMultipartObjects(ChecksumAlgorithm algorithm, ChecksumType type) {
        String id = client.createMultipartUpload(request -> request.bucket("bucket").key("big")
                .checksumAlgorithm(algorithm).checksumType(type)).uploadId();
        byte[] data = random((5 << 20) + 12_345);
        var parts = new ArrayList<CompletedPart>();
        for (int i = 0; i < 2; i++) {
            int number = i + 1;
            byte[] part = Arrays.copyOfRange(data, i * (5 << 20),
                    Math.min(data.length, number * (5 << 20)));
            var sent = client.uploadPart(request -> request.bucket("bucket").key("big")
                    .uploadId(id).partNumber(number).checksumAlgorithm(algorithm),
                    RequestBody.fromBytes(part));
            parts.add(CompletedPart.builder().partNumber(number).eTag(sent.eTag())
                    .checksumCRC32(sent.checksumCRC32()).checksumSHA256(sent.checksumSHA256())
                    .build());
        }
        var crc = new CRC32();
        crc.update(data);
        String whole = type == ChecksumType.FULL_OBJECT
                ? Base64.getEncoder().encodeToString(
                        ByteBuffer.allocate(4).putInt((int) crc.getValue()).array())
                : null;
        var done = client.completeMultipartUpload(request -> request.bucket("bucket").key("big")
                .uploadId(id).checksumType(type).checksumCRC32(whole)
                .mpuObjectSize((long) data.length).multipartUpload(all -> all.parts(parts)));
        assertThat(done.checksumType()).isEqualTo(type);
        String checksum = algorithm == ChecksumAlgorithm.CRC32
                ? done.checksumCRC32()
                : done.checksumSHA256();
        assertThat(checksum).isNotNull();
        if (whole == null) {
            assertThat(checksum).endsWith("-2");
        } else {
            assertThat(checksum).isEqualTo(whole);
        }
        var got = client.getObjectAsBytes(request -> request.bucket("bucket").key("big")
                .checksumMode(ChecksumMode.ENABLED));
        assertThat(got.asByteArray()).isEqualTo(data);
        assertThat(got.response().checksumType()).isEqualTo(type);
    }

    @Test
    void shouldTakePresignedUrls() throws IOException {
        var _ = client.putObject(request -> request.bucket("bucket").key("k"),
                RequestBody.fromString("hello"));
        try (S3Presigner presigner = S3Presigner.builder().endpointOverride(endpoint())
                .region(Region.US_EAST_1).credentialsProvider(CREDENTIALS)
                .serviceConfiguration(
                        S3Configuration.builder().pathStyleAccessEnabled(true).build())
                .build()) {
            URI url = URI.create(presigner.presignGetObject(
                    presign -> presign.signatureDuration(Duration.ofMinutes(5)).getObjectRequest(
                            request -> request.bucket("bucket").key("k")))
                    .url().toString());
            try (InputStream in = url.toURL().openStream()) {
                assertThat(in.readAllBytes()).asString().isEqualTo("hello");
            }
        }
    }

    @Test
    void shouldRefuseWrongSecret() {
        try (S3Client other = S3Client.builder().endpointOverride(endpoint()).forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider
                        .create(AwsBasicCredentials.create(S3Store.KEY, "wrong")))
                .httpClient(UrlConnectionHttpClient.create()).build()) {
            assertThatThrownBy(() -> other.listBuckets()).isInstanceOfSatisfying(
                    S3Exception.class,
                    e -> assertThat(e.awsErrorDetails().errorCode())
                            .isEqualTo("SignatureDoesNotMatch"));
        }
    }
}
