package lunar.osd.s3.signature;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lunar.osd.s3.protocol.PercentEncoding;
import lunar.osd.s3.protocol.Query;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Exception;

/** Signs requests of tests like a client. */
public final class TestSigner {
    private static final DateTimeFormatter TIME = DateTimeFormatter
            .ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final String accessKey;
    private final String secret;

    public TestSigner(String accessKey, String secret) {
        this.accessKey = accessKey;
        this.secret = secret;
    }

    /** Returns headers with a signature: names in lower case; host must be among them. */
    public Map<String, String> sign(String method, String rawPath, String rawQuery,
            Map<String, String> headers, String payload, Instant now) throws S3Exception {
        var all = new TreeMap<>(headers);
        String time = TIME.format(now);
        all.put("x-amz-date", time);
        all.put("x-amz-content-sha256", payload);
        var scope = new CredentialScope(accessKey, time.substring(0, 8), "us-east-1", "s3");
        var head = new RequestHead(method, PercentEncoding.decodePath(rawPath),
                Query.parse(rawQuery), all.entrySet().stream().collect(
                        Collectors.toMap(Map.Entry::getKey, each -> List.of(each.getValue()))));
        List<String> names = List.copyOf(all.keySet());
        String signature = SigningKey.derive(secret, scope).sign(CanonicalRequest.stringToSign(
                CanonicalRequest.of(head, names, payload), time, scope));
        all.put("authorization", "AWS4-HMAC-SHA256 Credential=" + accessKey + '/' + scope.text()
                + ", SignedHeaders=" + String.join(";", names) + ", Signature=" + signature);
        return all;
    }
}
