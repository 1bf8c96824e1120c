package lunar.cli.raid.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JsonLinesTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    @TempDir
    Path folder;
    private JsonLines here;
    private JsonLines there;

    @BeforeEach
    void connect() throws Exception {
        var address = UnixDomainSocketAddress.of(folder.resolve("socket"));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address)) {
            here = new JsonLines(SocketChannel.open(address), 1000);
            there = new JsonLines(server.accept(), 1000);
        }
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    @Test
    void shouldReadLinesUntilTheOtherEndCloses() throws Exception {
        there.write(Map.of("one", 1));
        there.write(Map.of("two", 2));
        there.close();
        assertThat(here.read(LONG).orElseThrow().path("one").asInt()).isEqualTo(1);
        assertThat(here.read(LONG).orElseThrow().path("two").asInt()).isEqualTo(2);
        assertThat(here.read(LONG)).isEmpty();
    }

    @Test
    void shouldTellThatTheOtherEndWasSilent() {
        assertThatExceptionOfType(SocketTimeoutException.class)
                .isThrownBy(() -> here.read(Duration.ofMillis(50)))
                .withMessageStartingWith("nothing received within");
    }
}
