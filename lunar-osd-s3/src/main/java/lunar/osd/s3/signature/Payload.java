package lunar.osd.s3.signature;

import java.util.Optional;

/**
 * How the body of a request is encoded and protected.
 *
 * @param chunked whether it is encoded as {@code aws-chunked}
 * @param trailers whether trailing headers follow the chunks
 * @param signer verifies chunks; empty if they are not signed
 * @param sha256 SHA-256 of the body in hexadecimal; empty if it is not signed as a whole
 */
public record Payload(boolean chunked, boolean trailers, Optional<ChunkSigner> signer,
        Optional<String> sha256) {
    /** A body that is not protected. */
    static final Payload UNSIGNED = new Payload(false, false, Optional.empty(), Optional.empty());
    static final String UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";
}
