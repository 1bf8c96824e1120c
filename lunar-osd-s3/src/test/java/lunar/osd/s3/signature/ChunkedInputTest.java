package lunar.osd.s3.signature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkedInputTest {
    private static final Payload TRAILERS = new Payload(true, true, Optional.empty(),
            Optional.empty());

    private static ChunkedInput of(String body, Payload payload) {
        return new ChunkedInput(
                new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)), payload);
    }

    @Test
    void shouldDecodeUnsignedChunksWithTrailers() throws IOException {
        ChunkedInput in = of(
                "5\r\nhello\r\n1;ext=1\r\n!\r\n0\r\nX-Amz-Checksum-Crc32: AAAA \r\n\r\n",
                TRAILERS);
        assertThat(in.readAllBytes()).asString().isEqualTo("hello!");
        assertThat(in.trailers()).containsOnlyKeys("x-amz-checksum-crc32")
                .containsValue("AAAA");
        assertThat(in.read()).isEqualTo(-1);
    }

    @Test
    void shouldDecodeTrailersAtTheEndOfTheBody() throws IOException {
        ChunkedInput in = of("0\r\nx-amz-checksum-crc32:AAAA\r\n", TRAILERS);
        assertThat(in.readAllBytes()).isEmpty();
        assertThat(in.trailers()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5\r\nhell", "5\r\nhello", "5\r\nhelloX\r\n0\r\n\r\n", "\r\n",
            "zz\r\n", "0\r\nno colon\r\n\r\n", "0\r\na:1\r\na:2\r\n\r\n", "1000000000000\r\n"})
    void shouldRefuseMalformedBodies(String body) {
        assertThatThrownBy(() -> of(body, TRAILERS).readAllBytes())
                .isInstanceOf(ChunkedInput.Refused.class);
    }

    @Test
    void shouldRefuseTrailersThatAreNotAnnounced() {
        var payload = new Payload(true, false, Optional.empty(), Optional.empty());
        assertThatThrownBy(() -> of("0\r\na:b\r\n\r\n", payload).readAllBytes())
                .isInstanceOf(ChunkedInput.Refused.class);
    }

    @Test
    void shouldRefuseEndlessTrailers() {
        var body = new StringBuilder("0\r\n");
        for (int i = 0; i < 100; i++) {
            body.append('h').append(i).append(":v\r\n");
        }
        assertThatThrownBy(() -> of(body + "\r\n", TRAILERS).readAllBytes())
                .isInstanceOf(ChunkedInput.Refused.class);
        assertThatThrownBy(() -> of("0\r\n" + "a".repeat(2000), TRAILERS).readAllBytes())
                .isInstanceOf(ChunkedInput.Refused.class);
    }

    /** AWS's example of a signed trailer, with the signatures that its text gives. */
    @Test
    void shouldVerifySignedTrailers() throws IOException {
        var scope = new CredentialScope("AKIAIOSFODNN7EXAMPLE", "20130524", "us-east-1", "s3");
        SigningKey key = SigningKey.derive("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", scope);
        String seed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
        String body = "10000;chunk-signature="
                + "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n"
                + "a".repeat(65536) + "\r\n400;chunk-signature="
                + "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n"
                + "a".repeat(1024) + "\r\n0;chunk-signature="
                + "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
                + "x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:%s\r\n\r\n";
        String right = "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435";

        ChunkedInput in = of(body.formatted(right), signed(key, scope, seed));
        assertThat(in.readAllBytes()).hasSize(66560);
        assertThat(in.trailers()).containsEntry("x-amz-checksum-crc32c", "sOO8/Q==");

        assertThatThrownBy(() -> of(body.formatted(right.replace('d', 'e')),
                signed(key, scope, seed)).readAllBytes()).isInstanceOf(ChunkedInput.Refused.class);
        assertThatThrownBy(() -> of(body.formatted(right).replace("sOO8", "tOO8"),
                signed(key, scope, seed)).readAllBytes()).isInstanceOf(ChunkedInput.Refused.class);
    }

    @Test
    void shouldRefuseEndlessSignaturesOfTrailers() {
        String line = "x-amz-trailer-signature:x\r\n";
        assertThatThrownBy(() -> of("0\r\n" + line.repeat(100) + "\r\n", TRAILERS)
                .readAllBytes()).isInstanceOf(ChunkedInput.Refused.class);
    }

    private static Payload signed(SigningKey key, CredentialScope scope, String seed) {
        return new Payload(true, true,
                Optional.of(new ChunkSigner(key, "20130524T000000Z", scope, seed)),
                Optional.empty());
    }
}
