package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests name servers that misbehave: the registrar retries, and registers when the server recovers. */
@Timeout(300)
class HostileNameServerTest {
    private static final Duration SHORT = Duration.ofMillis(150);
    private static final IsnsTiming TIMING = timing(SHORT);
    /** For a server that answers, though the machine may be busy. */
    private static final IsnsTiming PATIENT = timing(Duration.ofSeconds(60));

    private static IsnsTiming timing(Duration response) {
        return new IsnsTiming(Duration.ofSeconds(60), response, Duration.ofMillis(2),
                Duration.ofMillis(10), SHORT, SHORT, Duration.ofMinutes(5));
    }

    private static Registration registration() {
        return new Registration("entity", List.of(new StorageNode("iqn.2026-11.org.lunar:a", "",
                Map.of(new StorageNode.Portal(InetAddress.getLoopbackAddress(), 3260), 1))));
    }

    /** Response in place of the default one. */
    static Stream<Named<UnaryOperator<byte[]>>> misbehaviour() {
        return Stream.of(
                Named.of("nothing", _ -> new byte[0]),
                Named.of("another protocol", _ -> "HTTP/1.1 400 Bad Request\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII)),
                Named.of("half of it", usual -> Arrays.copyOf(usual, usual.length / 2)),
                Named.of("a long PDU that does not come", _ -> Wire.hex(
                        "0001 8001 fffc 4c00 0001 0000")),
                Named.of("a message without end", _ -> endless()),
                Named.of("to another request", usual -> changed(usual, 8, 0x77)),
                Named.of("to another kind of request", usual -> changed(usual, 3, 0x02)),
                Named.of("no", usual -> changed(usual, 15, Status.INVALID_REGISTRATION)),
                Named.of("too many things", HostileNameServerTest::flooded));
    }

    private static byte[] changed(byte[] usual, int at, int value) {
        byte[] bytes = usual.clone();
        bytes[at] = (byte) value;
        return bytes;
    }

    private static byte[] endless() {
        var bytes = new ByteArrayOutputStream();
        byte[] pdu = MessageCodec.encode(Message.Request.of(0x100, List.of(
                new Attribute.Text(Tags.PORTAL_NAME, "x".repeat(200)))), PduHeader.FROM_SERVER);
        for (int i = 0; i < 100; i++) {
            pdu[6] = (byte) ((PduHeader.FROM_SERVER | (i == 0 ? PduHeader.FIRST : 0)) >> 8);
            pdu[11] = (byte) i;
            bytes.writeBytes(pdu);
        }
        return bytes.toByteArray();
    }

    private static byte[] flooded(byte[] usual) {
        var bytes = new ByteArrayOutputStream();
        byte[] heartbeat = FakeNameServer
                .encode(Message.Request.of(Functions.HEARTBEAT, List.of()));
        for (int i = 0; i <= IsnsConnection.MAX_UNASKED; i++) {
            bytes.writeBytes(heartbeat);
        }
        bytes.writeBytes(usual);
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @MethodSource("misbehaviour")
    void shouldRetryUntilItRecovers(UnaryOperator<byte[]> misbehaviour) throws Exception {
        try (var server = new FakeNameServer()) {
            server.behave((_, usual) -> server.connections() <= 2
                    ? misbehaviour.apply(usual)
                    : usual);
            try (var registrar = IsnsRegistrar.start(server.server(), _ -> registration(),
                    TIMING)) {
                server.await("a third connection", _ -> server.connections() > 2);
                // It asks again and again, so there are messages to wait for.
                server.await("it is registered", _ -> registrar.isRegistered());
                assertThat(server.entities()).containsExactly("entity");
            }
        }
    }

    @Test
    void shouldEndWithoutAResponse() throws Exception {
        try (var server = new FakeNameServer()) {
            var patient = new IsnsTiming(TIMING.connect(), Duration.ofHours(1), TIMING.firstRetry(),
                    TIMING.lastRetry(), TIMING.check(), SHORT, TIMING.period());
            server.behave((_, _) -> new byte[0]);
            try (var _ = IsnsRegistrar.start(server.server(), _ -> registration(), patient)) {
                server.await(Functions.DEV_ATTR_REG);
            } // or the time limit of this class
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldReportWhyAQueryHasNoAnswer() throws Exception {
        try (var server = new FakeNameServer()) {
            server.behave((request, _) -> FakeNameServer
                    .encode(request.answer(Status.SOURCE_UNKNOWN, List.of())));
            assertThatExceptionOfType(IsnsException.Refused.class)
                    .isThrownBy(() -> ask(server.server(), PATIENT))
                    .withMessageContaining("source unknown; the querying node is not registered")
                    .satisfies(e -> assertThat(e.status()).isEqualTo(6));
            server.behave((_, _) -> new byte[0]);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> ask(server.server(), TIMING))
                    .withMessageContaining("no response to DevAttrQry within 150 ms");
            server.behave((_, _) -> "SSH-2.0-OpenSSH_9.2\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> ask(server.server(), PATIENT))
                    .withMessageContaining("is this an iSNS server?");
        }
    }

    private static void ask(IsnsServer server, IsnsTiming timing) throws IOException {
        IsnsDiscovery.targets(server, "iqn.2026-11.org.lunar:host", timing);
    }
}
