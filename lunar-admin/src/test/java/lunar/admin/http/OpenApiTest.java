package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.helidon.http.Method;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Tests that the API is as its OpenAPI document describes it. */
@Timeout(600)
class OpenApiTest {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    @TempDir
    Path folder;

    private static JsonNode document() throws IOException {
        try (var in = Api.class.getResourceAsStream("openapi.json")) {
            return MAPPER.readTree(in);
        }
    }

    @Test
    void shouldDescribeEachRouteAndNoOther() throws Exception {
        var described = new TreeSet<String>();
        document().path("paths").properties().forEach(path -> path.getValue().propertyNames()
                .forEach(method -> described.add(method + " " + path.getKey())));
        try (var fixture = new AdminFixture(folder)) {
            var routes = new TreeSet<String>();
            new Api(fixture.subject()).routes().forEach(route -> routes
                    .add(route.method().text().toLowerCase(Locale.ROOT) + " " + route.path()));
            assertThat(routes).isEqualTo(described);
        }
    }

    @Test
    void shouldAnswerAsDescribed() throws Exception {
        try (var fixture = new AdminFixture(folder);
                BlockDevice disk = Devices.open(fixture.uri())) {
            disk.flush();
            int tsih = fixture.client().get("/v1/sessions").path("sessions").path(0).path("tsih")
                    .asInt();
            for (Route route : new Api(fixture.subject()).routes()) {
                if (route.method().text().equals("DELETE")) {
                    continue; // last
                }
                check(fixture, route, route.path().replace("{tsih}", "" + tsih), 200);
            }
            for (Route route : new Api(fixture.subject()).routes()) {
                if (route.path().contains("{tsih}")) {
                    check(fixture, route, route.path().replace("{tsih}", "65534"), 404);
                }
            }
            fixture.refusal = "no";
            check(fixture, new Route(Method.POST, "/v1/reload", (_, _) -> {}),
                    "/v1/reload", 409);
            check(fixture, new Route(Method.DELETE, "/v1/sessions/{tsih}",
                    (_, _) -> {}), "/v1/sessions/" + tsih, 200);
        }
    }

    private static void check(AdminFixture fixture, Route route, String path, int status)
            throws IOException {
        String method = route.method().text();
        JsonNode response = document().path("paths").path(route.path())
                .path(method.toLowerCase(Locale.ROOT)).path("responses").path("" + status);
        assertThat(response.isMissingNode()).as(method + " " + path + " " + status).isFalse();
        String answer = raw(fixture, method, path);
        assertThat(answer).startsWith("HTTP/1.1 " + status + " ");
        String type = answer.lines().filter(line -> line.toLowerCase(Locale.ROOT)
                .startsWith("content-type:")).findFirst().orElseThrow()
                .replaceFirst(".*?: *", "").replaceFirst(";.*", "").strip();
        JsonNode content = response.path("content").path(type);
        assertThat(content.isMissingNode()).as(type + " of " + path).isFalse();
        if (type.equals("application/json")) {
            assertThat(errors(content.path("schema"), body(answer))).as(path).isEmpty();
        }
    }

    /** Returns what is wrong with a JSON text by a schema of the document. */
    private static List<String> errors(JsonNode schema, String json) throws IOException {
        var whole = (ObjectNode) MAPPER.readTree(schema.toString());
        whole.set("components", document().path("components"));
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(whole.toString()).validate(json, InputFormat.JSON).stream()
                .map(Object::toString).toList();
    }

    private static String body(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    private static boolean isWhole(ByteBuffer in) {
        String text = StandardCharsets.ISO_8859_1.decode(in.duplicate().flip()).toString();
        int end = text.indexOf("\r\n\r\n");
        return end >= 0 && text.lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                .anyMatch(line -> Integer.parseInt(
                        line.replaceFirst(".*: *", "").strip()) <= text.length() - end - 4);
    }

    private static String raw(AdminFixture fixture, String method, String path)
            throws IOException {
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(fixture.socket))) {
            channel.write(ByteBuffer.wrap((method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n"
                    + "Connection: close\r\nContent-Length: 0\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII)));
            var in = ByteBuffer.allocate(1 << 20);
            while (!isWhole(in)) { // the server leaves it to the client to close the connection
                assertThat(channel.read(in)).isPositive();
            }
            return StandardCharsets.UTF_8.decode(in.flip()).toString();
        }
    }
}
