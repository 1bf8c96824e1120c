package lunar.osd.s3.signature;

/** Computes the signatures of the chunks of a body: each depends on the one before. For one thread. */
public final class ChunkSigner {
    private final SigningKey key;
    private final String time;
    private final String scope;
    private String previous;

    /** @param seed signature of the head of the request */
    ChunkSigner(SigningKey key, String time, CredentialScope scope, String seed) {
        this.key = key;
        this.time = time;
        this.scope = scope.text();
        previous = seed;
    }

    /** Returns the signature of the next chunk, whose data have a SHA-256. */
    String next(String sha256) {
        previous = key.sign("AWS4-HMAC-SHA256-PAYLOAD\n" + time + '\n' + scope + '\n' + previous
                + '\n' + Hmac.EMPTY_SHA256 + '\n' + sha256);
        return previous;
    }

    /** Returns the signature of the trailing headers, after that of the last chunk. */
    String trailers(String canonicalTrailers) {
        return key.sign("AWS4-HMAC-SHA256-TRAILER\n" + time + '\n' + scope + '\n' + previous + '\n'
                + Hmac.sha256(canonicalTrailers));
    }
}
