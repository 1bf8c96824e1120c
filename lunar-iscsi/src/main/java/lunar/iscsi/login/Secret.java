package lunar.iscsi.login;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** A CHAP secret. Its string form does not reveal it; comparison takes constant time. */
public final class Secret {
    /**
     * Minimum length without IPsec (RFC 7143 section 9.2.1): 96 bits. A shorter secret can be computed from an
     * intercepted login, and is for the loopback only.
     */
    public static final int REQUIRED_BYTES = 12;

    private final byte[] bytes;

    private Secret(byte[] bytes) {
        if (bytes.length == 0) {
            throw new IllegalArgumentException("an empty CHAP secret");
        }
        this.bytes = bytes;
    }

    /** A secret of text, as UTF-8. */
    public static Secret of(String text) {
        return new Secret(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A secret of bytes, which are copied. */
    public static Secret of(byte[] bytes) {
        return new Secret(bytes.clone());
    }

    /** Whether it is shorter than the RFC asks for. */
    public boolean isShort() {
        return bytes.length < REQUIRED_BYTES;
    }

    void update(MessageDigest digest) { digest.update(bytes); }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Secret secret && MessageDigest.isEqual(bytes, secret.bytes);
    }

    /** Returns a constant: a hash of the secret would tell about it. */
    @Override
    public int hashCode() { return Secret.class.hashCode(); }

    @Override
    public String toString() { return "Secret[hidden]"; }
}
