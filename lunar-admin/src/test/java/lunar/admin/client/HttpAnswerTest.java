package lunar.admin.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how responses are read, of hostile servers too. */
class HttpAnswerTest {
    private static HttpAnswer read(String text) throws IOException {
        return HttpAnswer.read(
                new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    private static String body(String text) throws IOException {
        return new String(read(text).body(), StandardCharsets.ISO_8859_1);
    }

    @Test
    void shouldReadContentInEachForm() throws Exception {
        assertThat(body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc")).isEqualTo("ab");
        assertThat(body("HTTP/1.1 200\r\n\r\nabc")).isEqualTo("abc");
        assertThat(body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2;x=y\r\nab\r\nA\r\n0123456789\r\n0\r\n\r\n")).isEqualTo("ab0123456789");
        assertThat(read("HTTP/1.1 404 Not Found\r\n\r\n").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "HTTP/1.1", "SSH-2.0-x\r\n", "HTTP/1.1 20x OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"})
    void shouldRefuseWhatIsNoResponse(String text) {
        assertThatThrownBy(() -> read(text)).isInstanceOf(IOException.class);
    }

    @Test
    void shouldLimitHeaders() {
        assertThatThrownBy(() -> read("HTTP/1.1 200 OK\r\n" + "X: y\r\n".repeat(200) + "\r\n"))
                .hasMessageContaining("headers");
        assertThatThrownBy(() -> read("HTTP/1.1 200 " + "x".repeat(10_000) + "\r\n\r\n"))
                .hasMessageContaining("line");
    }
}
