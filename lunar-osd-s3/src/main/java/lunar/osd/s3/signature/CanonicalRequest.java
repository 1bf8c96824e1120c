package lunar.osd.s3.signature;

import java.util.List;
import java.util.stream.Collectors;
import lunar.osd.s3.protocol.PercentEncoding;
import lunar.osd.s3.protocol.RequestHead;

/** The canonical form of a request, which is signed. Paths are not normalized, unlike with other services. */
final class CanonicalRequest {
    private CanonicalRequest() {}

    static String of(RequestHead head, List<String> signedHeaders, String payloadHash) {
        var text = new StringBuilder();
        text.append(head.method()).append('\n').append(PercentEncoding.encodePath(head.path()))
                .append('\n')
                .append(head.query().canonical(SignedRequest.SIGNATURE_PARAMETER)).append('\n');
        for (String name : signedHeaders) {
            String values = head.headers().getOrDefault(name, List.of()).stream()
                    .map(value -> value.strip().replaceAll(" +", " "))
                    .collect(Collectors.joining(","));
            text.append(name).append(':').append(values).append('\n');
        }
        return text.append('\n').append(String.join(";", signedHeaders)).append('\n')
                .append(payloadHash).toString();
    }

    static String stringToSign(String canonicalRequest, String time, CredentialScope scope) {
        return SignedRequest.ALGORITHM + '\n' + time + '\n' + scope.text() + '\n'
                + Hmac.sha256(canonicalRequest);
    }
}
