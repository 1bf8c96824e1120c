package lunar.osd.s3.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lunar.osd.s3.checksum.ChecksumAlgorithm;
import lunar.osd.s3.checksum.ObjectChecksum;
import lunar.osd.s3.checksum.RunningChecksum;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.signature.ChunkedInput;
import lunar.osd.s3.signature.Payload;

/**
 * The body of a request: decoded, and checked against everything that the request says about it while it passes
 * through. For the thread of the request.
 */
final class RequestBody {
    /**
     * A body that was received.
     *
     * @param md5 MD5 in hexadecimal
     * @param length bytes
     * @param checksum checksum that the client has sent, which is right, or that was to be computed
     */
    record Received(String md5, long length, Optional<ObjectChecksum> checksum) {}

    private static final int BUFFER_BYTES = 256 << 10;
    private static final int MD5_BYTES = 16;

    private final RequestHead head;
    private final Payload payload;
    private final InputStream in;

    /** @param in the body as it comes */
    RequestBody(RequestHead head, Payload payload, InputStream in) {
        this.head = head;
        this.payload = payload;
        this.in = in;
    }

    /** Reads a whole document. */
    byte[] document(int maxBytes) throws IOException, S3Exception {
        var out = new ByteArrayOutputStream();
        var _ = copyTo(out, maxBytes, Optional.empty());
        return out.toByteArray();
    }

    /** Reads a whole document of a request whose checksum headers are not those of its body. */
    byte[] documentWithoutChecksum(int maxBytes) throws IOException, S3Exception {
        var out = new ByteArrayOutputStream();
        var _ = receive(out, maxBytes, Optional.empty(), Optional.empty());
        return out.toByteArray();
    }

    /**
     * Copies the body.
     *
     * @param wanted algorithm of a checksum to compute, which is the only one that the client may send; empty for any
     * @throws S3Exception if it is not what the request says; what was copied is to be discarded
     */
    Received copyTo(OutputStream out, long maxBytes, Optional<ChecksumAlgorithm> wanted)
            throws IOException, S3Exception {
        return receive(out, maxBytes, expectedChecksum(head.headers()), wanted);
    }

    private Received receive(OutputStream out, long maxBytes, Optional<ObjectChecksum> inHeader,
            Optional<ChecksumAlgorithm> wanted) throws IOException, S3Exception {
        long length = length();
        if (length > maxBytes) {
            throw new S3Exception(S3Error.ENTITY_TOO_LARGE);
        }
        Optional<byte[]> md5 = expectedMd5();
        Optional<ChecksumAlgorithm> inTrailer = announcedChecksum();
        Optional<ChecksumAlgorithm> algorithm = inHeader.map(ObjectChecksum::algorithm)
                .or(() -> inTrailer).or(() -> wanted);
        check(wanted.isEmpty() || algorithm.equals(wanted), S3Error.INVALID_REQUEST,
                "The algorithm of the checksum is not that of the upload.");
        RunningChecksum runningMd5 = ChecksumAlgorithm.startMd5();
        Optional<RunningChecksum> checksum = algorithm.map(ChecksumAlgorithm::start);
        Optional<RunningChecksum> sha256 = payload.sha256()
                .map(_ -> ChecksumAlgorithm.SHA256.start());
        ChunkedInput chunks = payload.chunked()
                ? new ChunkedInput(new BufferedInputStream(in, BUFFER_BYTES), payload)
                : null;
        InputStream body = chunks == null ? in : chunks;
        try {
            copy(body, out, length, (buffer, count) -> {
                runningMd5.update(buffer, 0, count);
                checksum.ifPresent(each -> each.update(buffer, 0, count));
                sha256.ifPresent(each -> each.update(buffer, 0, count));
            });
        } catch (ChunkedInput.Refused e) {
            throw e.refusal();
        }
        byte[] computedMd5 = runningMd5.value();
        check(sha256.isEmpty() || HexFormat.of().formatHex(sha256.get().value())
                .equals(payload.sha256().get()), S3Error.PAYLOAD_HASH_MISMATCH);
        check(md5.isEmpty() || MessageDigest.isEqual(md5.get(), computedMd5), S3Error.BAD_DIGEST);
        Optional<ObjectChecksum> expected = inHeader;
        if (inTrailer.isPresent() && chunks != null) {
            expected = expectedChecksum(lists(chunks.trailers()));
            check(expected.map(ObjectChecksum::algorithm).equals(inTrailer),
                    S3Error.INVALID_REQUEST);
        }
        Optional<ObjectChecksum> computed = algorithm.flatMap(
                each -> checksum.map(value -> ObjectChecksum.of(each, value.value())));
        check(expected.isEmpty() || expected.equals(computed), S3Error.BAD_DIGEST);
        return new Received(HexFormat.of().formatHex(computedMd5), length, computed);
    }

    @FunctionalInterface
    private interface Tap {
        void pass(byte[] buffer, int count);
    }

    private static void copy(InputStream from, OutputStream to, long length, Tap tap)
            throws IOException, S3Exception {
        var buffer = new byte[Math.clamp(length, 1, BUFFER_BYTES)];
        long left = length;
        while (true) {
            int count = from.read(buffer, 0, buffer.length);
            if (count < 0) {
                break;
            }
            left -= count;
            if (left < 0) {
                throw new S3Exception(S3Error.INCOMPLETE_BODY,
                        "The request has more data than it announces.");
            }
            tap.pass(buffer, count);
            to.write(buffer, 0, count);
        }
        check(left == 0, S3Error.INCOMPLETE_BODY);
    }

    private static void check(boolean condition, S3Error error) throws S3Exception {
        check(condition, error, error.message());
    }

    private static void check(boolean condition, S3Error error, String message)
            throws S3Exception {
        if (!condition) {
            throw new S3Exception(error, message);
        }
    }

    /** Returns how many bytes the request announces, without its encoding. */
    private long length() throws S3Exception {
        boolean chunked = head.header("transfer-encoding").isPresent();
        if (chunked && head.header("content-length").isPresent()) {
            throw new S3Exception(S3Error.INVALID_REQUEST,
                    "A request has Content-Length or Transfer-Encoding, not both.");
        }
        return head.lengthHeader(
                payload.chunked() ? "x-amz-decoded-content-length" : "content-length")
                .orElseThrow(() -> new S3Exception(S3Error.MISSING_CONTENT_LENGTH));
    }

    private Optional<byte[]> expectedMd5() throws S3Exception {
        Optional<String> header = head.header("content-md5");
        if (header.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(ObjectChecksum.decode(header.get(), MD5_BYTES)
                .orElseThrow(() -> new S3Exception(S3Error.INVALID_DIGEST)));
    }

    private static Optional<ObjectChecksum> expectedChecksum(Map<String, List<String>> headers)
            throws S3Exception {
        Optional<ObjectChecksum> found = Optional.empty();
        for (var header : headers.entrySet()) {
            Optional<ChecksumAlgorithm> algorithm = ChecksumAlgorithm.ofHeader(header.getKey());
            if (algorithm.isPresent()) {
                check(found.isEmpty(), S3Error.INVALID_REQUEST);
                found = ObjectChecksum.of(algorithm.get(), header.getValue().getFirst().strip());
                check(found.isPresent(), S3Error.INVALID_REQUEST);
            }
        }
        return found;
    }

    private Optional<ChecksumAlgorithm> announcedChecksum() throws S3Exception {
        Optional<String> header = head.header("x-amz-trailer");
        if (header.isEmpty()) {
            return Optional.empty();
        }
        Optional<ChecksumAlgorithm> algorithm = ChecksumAlgorithm
                .ofHeader(header.get().toLowerCase(Locale.ROOT));
        check(algorithm.isPresent() && payload.trailers(), S3Error.INVALID_REQUEST);
        return algorithm;
    }

    private static Map<String, List<String>> lists(Map<String, String> trailers) {
        var lists = new HashMap<String, List<String>>();
        trailers.forEach((name, value) -> lists.put(name, List.of(value)));
        return lists;
    }
}
