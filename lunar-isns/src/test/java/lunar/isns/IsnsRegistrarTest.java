package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the requests of a registrar, including failures of both ends. */
@Timeout(300)
class IsnsRegistrarTest {
    private static final Duration SOON = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final IsnsTiming TIMING = new IsnsTiming(LONG, LONG, SOON, SOON, SOON, LONG,
            Duration.ofMinutes(5));

    private final AtomicReference<Registration> wanted = new AtomicReference<>();
    private FakeNameServer server;

    @BeforeEach
    void serve() throws IOException {
        want("a", "b");
        server = new FakeNameServer();
    }

    @AfterEach
    void stop() { server.close(); }

    private static String name(String end) { return "iqn.2026-11.org.lunar:" + end; }

    private void want(String... ends) {
        wanted.set(new Registration("entity", Arrays.stream(ends)
                .map(end -> new StorageNode(name(end), "",
                        Map.of(new StorageNode.Portal(InetAddress.getLoopbackAddress(), 3260), 1)))
                .toList()));
    }

    private IsnsRegistrar start() {
        return IsnsRegistrar.start(server.server(), _ -> wanted.get(), TIMING);
    }

    private static List<String> names(List<Attribute> attributes) {
        return attributes.stream().filter(one -> one.tag() == Tags.NODE_NAME)
                .map(one -> ((Attribute.Text) one).value()).toList();
    }

    private static boolean replaces(Message message) {
        return message instanceof Message.Request request && request.replace();
    }

    @Test
    void shouldRegisterAskAndDeregister() throws Exception {
        try (var registrar = start()) {
            Message first = server.await(Functions.DEV_ATTR_REG);
            assertThat(replaces(first)).isTrue();
            assertThat(names(first.operating())).containsExactly(name("a"), name("b"));
            // Each node in turn, as itself.
            assertThat(List.of(names(server.await(Functions.DEV_ATTR_QRY).attributes()),
                    names(server.await(Functions.DEV_ATTR_QRY).attributes())))
                    .containsExactlyInAnyOrder(List.of(name("a"), name("a")),
                            List.of(name("b"), name("b")));
            assertThat(registrar.isRegistered()).isTrue();
            assertThat(server.entities()).containsExactly("entity");
        }
        server.await(Functions.DEV_DEREG);
        assertThat(server.entities()).isEmpty();
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldRegisterAgainWhereItIsForgotten() throws Exception {
        try (var _ = start()) {
            server.await(Functions.DEV_ATTR_QRY);
            server.entities().clear();
            assertThat(replaces(server.await(Functions.DEV_ATTR_REG))).isTrue();
            // The same where the name server says it with a status.
            server.behave((request, usual) -> request.function() == Functions.DEV_ATTR_QRY
                    ? FakeNameServer.encode(request.answer(Status.SOURCE_UNKNOWN, List.of()))
                    : usual);
            assertThat(replaces(server.await(Functions.DEV_ATTR_REG))).isTrue();
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldReportChangesOnly() throws Exception {
        try (var registrar = start()) {
            server.await(Functions.DEV_ATTR_REG);
            want("b", "c");
            registrar.changed();
            Message.Request removal = (Message.Request) server.await(Functions.DEV_DEREG);
            assertThat(names(removal.operating())).containsExactly(name("a"));
            assertThat(removal.operating()).hasSize(1);
            assertThat(names(removal.attributes())).startsWith(name("b")); // the source is a remaining target
            Message addition = server.await(Functions.DEV_ATTR_REG);
            assertThat(replaces(addition)).isFalse();
            assertThat(names(addition.operating())).containsExactly(name("b"), name("c"));
        }
    }

    @Test
    void shouldBeginAgainWhereNoNodeStays() throws Exception {
        try (var registrar = start()) {
            server.await(Functions.DEV_ATTR_REG);
            want("c");
            registrar.changed();
            Message removal = server.await(Functions.DEV_DEREG);
            assertThat(names(removal.attributes())).containsExactly(name("a"));
            assertThat(removal.operating())
                    .containsExactly(new Attribute.Text(Tags.ENTITY_IDENTIFIER, "entity"));
            Message addition = server.await(Functions.DEV_ATTR_REG);
            assertThat(names(addition.attributes())).containsExactly(name("c"), name("c"));

            want();
            registrar.changed();
            server.await(Functions.DEV_DEREG);
            assertThat(server.entities()).isEmpty();
            want("d");
            registrar.changed();
            server.await(Functions.DEV_ATTR_REG);
        }
    }

    @Test
    void shouldUseTheEntityThatTheNameServerGives() throws Exception {
        var given = new Attribute.Text(Tags.ENTITY_IDENTIFIER, "isns:1");
        server.behave((request, usual) -> request.function() == Functions.DEV_ATTR_REG
                ? FakeNameServer.encode(request.answer(Status.SUCCESSFUL,
                        List.of(given, Attribute.DELIMITER, given)))
                : usual);
        server.entities().add("isns:1"); // before it is asked for
        try (var _ = start()) {
            server.await(Functions.DEV_ATTR_REG);
            server.await(Functions.DEV_ATTR_QRY);
        }
        assertThat(server.await(Functions.DEV_DEREG).operating()).containsExactly(given);
    }

    @Test
    void shouldTakeOverWhatAnotherEntityHasButNotTakeItBack() throws Exception {
        server.entities().add("other");
        FakeNameServer.Behaviour jealous = (request, usual) -> {
            if (request.function() == Functions.DEV_DEREG
                    && names(request.operating()).contains(name("b"))) {
                server.entities().remove("other");
            }
            return request.function() == Functions.DEV_ATTR_REG
                    && server.entities().contains("other")
                            ? FakeNameServer.encode(
                                    request.answer(Status.INVALID_REGISTRATION, List.of()))
                            : usual;
        };
        server.behave(jealous);
        try (var registrar = start()) {
            server.await("it asks, so it is registered", message -> registrar.isRegistered());
            assertThat(server.entities()).containsExactly("entity");

            server.entities().add("other"); // has started after us
            server.entities().remove("entity");
            for (int i = 0; i < 4; i++) { // two of them may be from before
                server.await(Functions.DEV_ATTR_REG);
            }
            assertThat(server.entities()).contains("other");
            assertThat(registrar.isRegistered()).isFalse();
            server.entities().remove("other");
            server.await(Functions.DEV_ATTR_QRY);
        }
    }

    @Test
    void shouldTakeOverAgainWhereTheOwnerRegistersInBetween() throws Exception {
        server.entities().add("other");
        var takeOvers = new AtomicInteger();
        server.behave((request, usual) -> {
            if (request.function() == Functions.DEV_DEREG
                    && names(request.operating()).contains(name("b"))
                    && takeOvers.incrementAndGet() == 3) {
                server.entities().remove("other"); // the third time, the owner has not noticed yet
            }
            return request.function() == Functions.DEV_ATTR_REG
                    && server.entities().contains("other")
                            ? FakeNameServer.encode(
                                    request.answer(Status.INVALID_REGISTRATION, List.of()))
                            : usual;
        });
        try (var registrar = start()) {
            server.await("it is registered", _ -> registrar.isRegistered());
            assertThat(server.entities()).containsExactly("entity");
            assertThat(takeOvers).hasValue(3);
        }
    }

    @Test
    void shouldRetryAnUnreachableNameServer() throws Exception {
        int port = server.server().port();
        server.close();
        try (var registrar = IsnsRegistrar.start(new IsnsServer("127.0.0.1", port),
                _ -> wanted.get(), TIMING)) {
            assertThat(registrar.isRegistered()).isFalse();
            server = new FakeNameServer(port);
            server.await(Functions.DEV_ATTR_REG);
        }
    }

    @Test
    void shouldReturnWhenTheConnectionEnds() throws Exception {
        try (var _ = start()) {
            server.await(Functions.DEV_ATTR_QRY);
            server.dropConnections();
            // All is still there: initiators shall not hear of anything.
            assertThat(server.await("anything", _ -> server.connections() == 2).function())
                    .isEqualTo(Functions.DEV_ATTR_QRY);
            server.dropConnections(); // first: what registers again comes by another connection
            server.entities().clear();
            server.await(Functions.DEV_ATTR_REG);
        }
        assertThat(server.connections()).isGreaterThan(2);
    }

    @Test
    void shouldTryAgainWhenTheSourceCannotSay() throws Exception {
        var calls = new AtomicReference<>(0);
        try (var _ = IsnsRegistrar.start(server.server(), _ -> {
            int call = calls.getAndUpdate(before -> before + 1);
            if (call == 0) {
                throw new IOException("not now");
            } else if (call == 1) {
                throw new IllegalStateException("a bug");
            }
            return wanted.get();
        }, TIMING)) {
            server.await(Functions.DEV_ATTR_REG);
        }
    }

    @Test
    void shouldAnswerWhatTheNameServerAsks() throws Exception {
        try (var _ = start()) {
            server.await(Functions.DEV_ATTR_REG);
            var esi = new Message.Request(Functions.ESI, false, 7, List.of(
                    new Attribute.Time(Tags.TIMESTAMP, 1_800_000_000L),
                    new Attribute.Text(Tags.ENTITY_IDENTIFIER, "entity"),
                    new Attribute.Address(Tags.PORTAL_ADDRESS, InetAddress.getLoopbackAddress()),
                    new Attribute.Numeric(Tags.PORTAL_PORT, 3260)));
            server.send(FakeNameServer.encode(esi));
            assertThat(server.await(Functions.ESI | Functions.RESPONSE))
                    .isEqualTo(esi.answer(Status.SUCCESSFUL, esi.attributes()));

            var self = new Attribute.Text(Tags.NODE_NAME, name("a"));
            var scn = new Message.Request(Functions.SCN, false, 8,
                    List.of(self, new Attribute.Time(Tags.TIMESTAMP, 1_800_000_000L),
                            new Attribute.Text(Tags.NODE_NAME, name("other"))));
            server.send(FakeNameServer.encode(scn));
            assertThat(server.await(Functions.SCN | Functions.RESPONSE))
                    .isEqualTo(scn.answer(Status.SUCCESSFUL, List.of(self)));

            server.send(FakeNameServer.encode(Message.Request.of(Functions.HEARTBEAT, List.of())));
            server.send(FakeNameServer.encode(Message.Request.of(0x123, List.of())));
            assertThat(server.await("a response", Message.Response.class::isInstance))
                    .isEqualTo(new Message.Response(0x8123, 0, Status.MESSAGE_NOT_SUPPORTED,
                            List.of()));
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldRegisterMoreTargetsThanFitIntoOneRequest() throws Exception {
        want(IntStream.range(0, 1_500).mapToObj(Integer::toString).toArray(String[]::new));
        try (var _ = start()) {
            assertThat(replaces(server.await(Functions.DEV_ATTR_REG))).isTrue();
            assertThat(replaces(server.await(Functions.DEV_ATTR_REG))).isFalse();
            server.await(Functions.DEV_ATTR_QRY);
        }
    }
}
