package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.client.AdminClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests listeners that cannot start, have slow clients, or fail. */
@Timeout(600)
class ListenerTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    /** Times for a request: one that is enough, and one that is so on a loaded machine, too. */
    private static final Duration REQUEST = Duration.ofSeconds(1);
    private static final Duration SLOW_REQUEST = Duration.ofSeconds(15);
    private static final Duration LONG = Duration.ofMinutes(10);

    @TempDir
    Path folder;

    @Test
    void shouldSayWhyItCannotListen() throws Exception {
        Path token = AdminFixture.token(folder);
        try (var fixture = new AdminFixture(folder);
                var used = new ServerSocket()) {
            used.bind(AdminFixture.loopback());
            var address = new InetSocketAddress(used.getInetAddress(), used.getLocalPort());
            Path socket = folder.resolve("other.sock");
            var options = AdminOptions.ofSocket(socket).withListen(address, token);
            assertThatThrownBy(() -> AdminServer.start(options, fixture.subject()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(":" + used.getLocalPort())
                    .hasMessageContaining("in use");
            assertThat(socket).doesNotExist();
            var missing = AdminOptions.ofSocket(folder.resolve("none/admin.sock"));
            assertThatThrownBy(() -> AdminServer.start(missing, fixture.subject()))
                    .isInstanceOf(IOException.class).hasMessageContaining("does not exist");
            var tooLong = AdminOptions.ofSocket(folder.resolve("x".repeat(120)));
            assertThatThrownBy(() -> AdminServer.start(tooLong, fixture.subject()))
                    .isInstanceOf(IOException.class).hasMessageContaining("too long");
        }
    }

    @Test
    void shouldCloseConnectionsWhoseRequestIsSlow() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            SocketAddress unix = UnixDomainSocketAddress.of(folder.resolve("slow.sock"));
            for (SocketAddress address : new SocketAddress[]{unix, AdminFixture.loopback()}) {
                try (Listener listener = Listener.start(address, new Api(fixture.subject()),
                        Optional.empty(), Optional.empty(), new RequestDeadlines(SHORT, LONG))) {
                    isClosedDuring(listener, "");
                    isClosedDuring(listener, "GET /healthz HTTP/1.1\r\nHost: lo");
                    isClosedDuring(listener, "POST /healthz HTTP/1.1\r\nHost: localhost\r\n"
                            + "Content-Length: 9\r\n\r\nhalf");
                }
            }
        }
    }

    @Test
    void shouldWaitForALongResponse() throws Exception {
        try {
            waitForALongResponse(REQUEST);
        } catch (IOException _) {
            waitForALongResponse(SLOW_REQUEST);
        }
    }

    private void waitForALongResponse(Duration request) throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            fixture.reloading = () -> {
                try {
                    Thread.sleep(request.multipliedBy(2));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            };
            Path socket = folder.resolve("slow.sock");
            try (Listener _ = Listener.start(UnixDomainSocketAddress.of(socket),
                    new Api(fixture.subject()), Optional.empty(), Optional.empty(),
                    new RequestDeadlines(request, LONG))) {
                assertThat(AdminClient.of(socket).post("/v1/reload").path("changes").size())
                        .isEqualTo(1);
            }
            try (Listener listener = Listener.start(UnixDomainSocketAddress.of(socket),
                    new Api(fixture.subject()), Optional.empty(), Optional.empty(),
                    new RequestDeadlines(LONG, SHORT))) {
                isClosedDuring(listener, "POST /v1/reload HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 0\r\n\r\n");
            }
        }
    }

    @Test
    void shouldListenAgainAfterAFailure() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            Path socket = folder.resolve("failing.sock");
            var starts = new AtomicInteger();
            ListenerWatch.Start start = () -> {
                Listener listener = Listener.start(UnixDomainSocketAddress.of(socket),
                        new Api(fixture.subject()), Optional.empty(), Optional.empty());
                starts.incrementAndGet();
                return listener;
            };
            Set<Thread> others = Thread.getAllStackTraces().keySet();
            try (ListenerWatch _ = ListenerWatch.of(start.run(), start, SHORT)) {
                Files.delete(socket);
                awaitStarts(starts, 2);
                awaitHealth(socket);
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !others.contains(thread)
                                && thread.getName().startsWith("server-"))
                        .forEach(Thread::interrupt); // ends the accept loop
                awaitStarts(starts, 3);
                awaitHealth(socket);
            }
            assertThat(socket).doesNotExist();
        }
    }

    private static void awaitStarts(AtomicInteger starts, int count) throws InterruptedException {
        while (starts.get() < count) {
            Thread.sleep(10);
        }
    }

    private static void awaitHealth(Path socket) throws Exception {
        while (!SocketLock.isAlive(socket)) {
            Thread.sleep(10);
        }
        assertThat(AdminClient.of(socket).get("/healthz").path("ok").asBoolean()).isTrue();
    }

    /** Sends a part of a request, and blocks until the listener closes the connection. */
    private static void isClosedDuring(Listener listener, String request) throws IOException {
        try (var channel = SocketChannel.open(listener.address())) {
            ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
            while (out.hasRemaining()) {
                channel.write(out);
            }
            while (channel.read(ByteBuffer.allocate(1024)) >= 0) {
                // a response to the headers
            }
        } catch (IOException e) {
            assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }
    }
}
