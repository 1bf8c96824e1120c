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
import java.util.Map;
import java.util.TreeSet;
import lunar.admin.client.AdminClient;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.raid.layout.Level;
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
                if (route.method().text().equals("DELETE") || route.path().contains("{name}")
                        || route.path().contains("{iqn}") || route.path().equals("/v1/drain")) {
                    continue; // last, or below
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

    @Test
    void shouldAnswerChangesAsDescribed() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            String target = "/v1/targets/" + AdminClient.segment(AdminFixture.IQN);
            String luns = "/v1/targets/{iqn}/luns";
            String lun = luns + "/{lun}";
            check(fixture, "POST", luns, target + "/luns", "{\"uri\": \"ram:1MiB\"}", 200);
            check(fixture, "POST", luns, "/v1/targets/" + AdminFixture.IQN + "/luns",
                    "{\"uri\": \"ram:1MiB\", \"lun\": 7, \"readOnly\": true}", 200);
            check(fixture, "POST", luns, target + "/luns", "{\"uri\": 1}", 400);
            check(fixture, "POST", luns, target + "/luns", "{\"uri\": \"ram:1MiB\", \"lun\": 7}",
                    409);
            check(fixture, "POST", luns, target + "x/luns", "{\"uri\": \"ram:1MiB\"}", 404);
            check(fixture, "PATCH", lun, target + "/luns/1", "{\"sizeBytes\": 2097152}", 200);
            check(fixture, "PATCH", lun, target + "/luns/1", "{\"sizeBytes\": 1048576}", 409);
            check(fixture, "PATCH", lun, target + "/luns/1", "{}", 400);
            check(fixture, "PATCH", lun, target + "/luns/2", "{\"sizeBytes\": 512}", 404);
            check(fixture, "GET", "/v1/luns", "/v1/luns", "", 200);
            check(fixture, "GET", "/v1/status", "/v1/status", "", 200);
            check(fixture, "DELETE", lun, target + "/luns/1", "", 200);
            check(fixture, "DELETE", lun, target + "/luns/1", "", 404);
            check(fixture, "DELETE", lun, target + "/luns/first", "", 404);

            String drain = "/v1/targets/{iqn}/drain";
            check(fixture, "POST", drain, target + "/drain", "{\"waitSeconds\": 1}", 200);
            check(fixture, "POST", drain, target + "x/drain", "", 404);
            check(fixture, "GET", "/readyz", "/readyz", "", 200);
            check(fixture, "POST", "/v1/drain", "/v1/drain", "", 200);
            check(fixture, "POST", "/v1/drain", "/v1/drain", "{\"waitSeconds\": 0}", 400);
            check(fixture, "GET", "/v1/status", "/v1/status", "", 200);
            check(fixture, "GET", "/readyz", "/readyz", "", 503);
            check(fixture, "GET", "/healthz", "/healthz", "", 200);
            check(fixture, "DELETE", drain, target + "/drain", "", 409);
            check(fixture, "DELETE", "/v1/drain", "/v1/drain", "", 200);
            check(fixture, "DELETE", drain, target + "/drain", "", 200);
            check(fixture, "DELETE", drain, target + "x/drain", "", 404);
            check(fixture, "POST", "/v1/reload", "/v1/reload?discard=maybe", "", 400);
        }
    }

    @Test
    void shouldAnswerAboutVolumesAsDescribed() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            String file = volume.file("new") + ServedVolume.SIZE;
            var bodies = Map.of("fail", "{\"slot\": 1}", "add", "{\"slot\": 1}", "replace",
                    "{\"slot\": 1, \"uri\": \"" + file + "\"}", "grow",
                    "{\"uri\": \"" + volume.file("m2") + ServedVolume.SIZE + "\"}", "remove",
                    "{\"uri\": \"" + volume.file("none") + "\"}", "scrub",
                    "{\"repair\": true, \"bytesPerSecond\": 0}");
            for (Route route : new Api(volume.fixture.subject()).routes()) {
                if (route.path().contains("{name}")) {
                    String body = bodies.getOrDefault(
                            route.path().replaceFirst(".*/", ""), "");
                    requireDescribed(route, body);
                    check(volume.fixture, route, route.path().replace("{name}", "raid1:no"), body,
                            404);
                    check(volume.fixture, route, route.path().replace("{name}", "raid1:vol"), body,
                            route.path().endsWith("/remove") ? 409 : 200);
                    volume.awaitEnd();
                    if (!body.isEmpty() && route.method().equals(Method.POST)) {
                        check(volume.fixture, route, route.path().replace("{name}", "vol"), "[]",
                                400);
                    }
                }
            }
        }
    }

    /** Requires that the body of a request is as its route describes it. */
    private static void requireDescribed(Route route, String body) throws IOException {
        JsonNode described = document().path("paths").path(route.path())
                .path(route.method().text().toLowerCase(Locale.ROOT)).path("requestBody");
        boolean hasBody = !body.isEmpty() && route.method().equals(Method.POST);
        assertThat(described.isObject()).as(route.path()).isEqualTo(hasBody);
        if (hasBody) {
            assertThat(errors(described.path("content").path("application/json").path("schema"),
                    body)).as(route.path()).isEmpty();
        }
    }

    private static void check(AdminFixture fixture, Route route, String path, int status)
            throws IOException {
        check(fixture, route, path, "", status);
    }

    private static void check(AdminFixture fixture, Route route, String path, String body,
            int status) throws IOException {
        String method = route.method().text();
        check(fixture, method, route.path(), path, method.equals("POST") ? body : "", status);
    }

    private static void check(AdminFixture fixture, String method, String route, String path,
            String body, int status) throws IOException {
        JsonNode response = document().path("paths").path(route)
                .path(method.toLowerCase(Locale.ROOT)).path("responses").path("" + status);
        assertThat(response.isMissingNode()).as(method + " " + path + " " + status).isFalse();
        String answer = raw(fixture, method, path, body);
        assertThat(answer).as(method + " " + path).startsWith("HTTP/1.1 " + status + " ");
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

    private static String raw(AdminFixture fixture, String method, String path, String sent)
            throws IOException {
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(fixture.socket))) {
            channel.write(ByteBuffer.wrap((method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n"
                    + "Connection: close\r\nContent-Length: " + sent.length() + "\r\n\r\n" + sent)
                    .getBytes(StandardCharsets.US_ASCII)));
            var in = ByteBuffer.allocate(1 << 20);
            while (!isWhole(in)) { // the server leaves it to the client to close the connection
                assertThat(channel.read(in)).isPositive();
            }
            return StandardCharsets.UTF_8.decode(in.flip()).toString();
        }
    }
}
