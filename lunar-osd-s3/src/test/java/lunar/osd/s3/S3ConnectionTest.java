package lunar.osd.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.time.InstantSource;
import lunar.osd.s3.backend.StoreBackend;
import lunar.osd.s3.http.Limits;
import org.junit.jupiter.api.Test;

/** Requests that an HTTP client does not usually send. */
class S3ConnectionTest {
    /** Bytes that would take a minute. */
    private static final int LENGTH = 1200;

    private static S3Server start(Duration clientTimeout) throws IOException {
        return S3Server.start(new StoreBackend(), S3Options.DEFAULT
                .withAddress(new InetSocketAddress("127.0.0.1", 0)).withAnonymous(true),
                new Limits(1 << 20, 100, 1 << 16, clientTimeout), InstantSource.system());
    }

    private static Socket connect(S3Server server, String head) throws IOException {
        var socket = new Socket("127.0.0.1", server.address().getPort());
        socket.getOutputStream().write((head + "\r\n\r\n").getBytes(UTF_8));
        return socket;
    }

    private static String send(S3Server server, String line, String host) throws IOException {
        try (Socket socket = connect(server, line + " HTTP/1.1\r\nHost: " + host
                + "\r\nContent-Length: 0\r\nConnection: close")) {
            return new String(socket.getInputStream().readAllBytes(), UTF_8).substring(9, 12);
        }
    }

    @Test
    void shouldKeepSlashesAtBeginningOfKey() throws IOException {
        try (S3Server server = start(Duration.ofSeconds(20))) {
            assertThat(send(server, "PUT /bucket", "localhost")).isEqualTo("200");
            assertThat(send(server, "PUT /b", "bucket.localhost")).isEqualTo("200");
            assertThat(send(server, "PUT //a/c", "bucket.localhost")).isEqualTo("200");
            assertThat(send(server, "GET /bucket//a/c", "localhost")).isEqualTo("200");
            assertThat(send(server, "GET /bucket/c", "localhost")).isEqualTo("404");
            assertThat(send(server, "DELETE //a/b", "bucket.localhost")).isEqualTo("204");
            assertThat(send(server, "GET /bucket/b", "localhost")).isEqualTo("200");
        }
    }

    @Test
    void shouldRefuseAPageWhoseNameResolvesToThisServer() throws IOException {
        try (S3Server server = start(Duration.ofSeconds(20))) {
            assertThat(send(server, "GET /", "rebound.example:9000")).isEqualTo("403");
            assertThat(send(server, "PUT /bucket", "bucket.rebound.example")).isEqualTo("403");
            assertThat(send(server, "GET /", "127.0.0.1:9000")).isEqualTo("200");
        }
    }

    /** A client without rights must not keep a thread by sending a body that is dropped byte by byte. */
    @Test
    void shouldDropBodyOfRefusedRequestForLimitedTimeAltogether()
            throws IOException, InterruptedException {
        try (S3Server server = start(Duration.ofSeconds(1));
                Socket socket = connect(server,
                        "PUT /bucket/key HTTP/1.1\r\nHost: localhost\r\nOrigin: http://x\r\n"
                                + "Content-Length: " + LENGTH)) {
            int sent = 0;
            try {
                for (; sent < LENGTH; sent++) {
                    socket.getOutputStream().write('x');
                    Thread.sleep(50);
                }
            } catch (IOException _) {
                // the server has closed the connection
            }
            assertThat(sent).isLessThan(LENGTH);
        }
    }
}
