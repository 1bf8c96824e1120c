package lunar.osd.s3.signature;

import java.nio.charset.StandardCharsets;

/** A key derived from a secret for one day, region and service. Its text has no secret. */
final class SigningKey {
    private final byte[] key;

    private SigningKey(byte[] key) { this.key = key; }

    static SigningKey derive(String secret, CredentialScope scope) {
        byte[] date = Hmac.of(("AWS4" + secret).getBytes(StandardCharsets.UTF_8), scope.date());
        byte[] service = Hmac.of(Hmac.of(date, scope.region()), scope.service());
        return new SigningKey(Hmac.of(service, CredentialScope.TERMINATOR));
    }

    /** Returns a signature in hexadecimal. */
    String sign(String stringToSign) {
        return Hmac.hex(Hmac.of(key, stringToSign));
    }

    @Override
    public String toString() { return "signing key"; }
}
