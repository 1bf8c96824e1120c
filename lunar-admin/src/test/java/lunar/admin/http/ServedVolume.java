package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.service.VolumeSpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server of one RAID volume, {@code raidN:vol}, whose members are files, and requests to its admin API. */
final class ServedVolume implements AutoCloseable {
    static final String SIZE = "?size=4MiB";
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final long WAIT_NANOS = Duration.ofSeconds(180).toNanos();

    final AdminFixture fixture;
    final String path;
    private final Path folder;
    private final HttpClient client = HttpClient.newHttpClient();

    /** Creates a volume of members {@code m0} and on, which are in sync, and serves it. */
    ServedVolume(Path folder, Level level, int members) throws Exception {
        this.folder = folder;
        path = "/v1/volumes/" + VolumeSpec.scheme(level) + ":vol";
        fixture = new AdminFixture(folder, create(level, members));
    }

    private String create(Level level, int members) throws Exception {
        var all = new ArrayList<Creation.Member>();
        var uri = new StringBuilder(VolumeSpec.scheme(level) + ":vol?rebuild-rate=0");
        for (int i = 0; i < members; i++) {
            all.add(new Creation.Member(file("m" + i), UUID.randomUUID(),
                    Devices.open(file("m" + i) + SIZE)));
            uri.append("&member=").append(DeviceUri.encoded(file("m" + i)));
        }
        var _ = Creation.create(
                new Creation.Wish(UUID.randomUUID(), "vol", 0, level,
                        Creation.consistencyOf(level), 64 << 10, 0, UUID.randomUUID(), null, false),
                all, List.of(), false);
        for (Creation.Member member : all) {
            try (BlockDevice device = member.device()) {
                Creation.assumeClean(device);
            }
        }
        return uri.toString();
    }

    Path file(int member) { return folder.resolve("m" + member); }

    String file(String name) { return "file:" + folder.resolve(name); }

    HttpResponse<String> send(String method, String where, String body) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + fixture.admin.port().orElseThrow() + where);
        return client.send(HttpRequest.newBuilder(uri)
                .header("Authorization", "Bearer " + AdminFixture.TOKEN)
                .method(method, body.isEmpty()
                        ? HttpRequest.BodyPublishers.noBody()
                        : HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }

    /**
     * Posts the headers of a change without its body, and returns the first line of the answer. With a body that is
     * too long, the connection may be reset before the answer is read.
     */
    String announced(String change, int bodyBytes) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(),
                fixture.admin.port().orElseThrow())) {
            socket.getOutputStream()
                    .write(("POST " + path + "/" + change + " HTTP/1.1\r\nHost: localhost\r\n"
                            + "Authorization: Bearer " + AdminFixture.TOKEN + "\r\nContent-Length: "
                            + bodyBytes
                            + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(),
                    StandardCharsets.US_ASCII)).readLine();
        }
    }

    static JsonNode json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return MAPPER.readTree(answer.body());
    }

    /** Posts a change, and returns the state of the volume that the answer has. */
    JsonNode change(String change, String body) throws Exception {
        return json(send("POST", path + "/" + change, body));
    }

    /** Posts a change that is answered with an error, and returns that. */
    String refused(int status, String change, String body) throws Exception {
        HttpResponse<String> answer = send("POST", path + "/" + change, body);
        assertThat(answer.statusCode()).as(body + ": " + answer.body()).isEqualTo(status);
        String error = MAPPER.readTree(answer.body()).path("error").asString();
        assertThat(error).isNotBlank().doesNotContain("\n");
        return error;
    }

    JsonNode state() throws Exception { return json(send("GET", path, "")); }

    /** Returns the state as soon as it is as wanted. */
    JsonNode await(Predicate<JsonNode> wanted) throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        JsonNode state = state();
        while (!wanted.test(state)) {
            assertThat(System.nanoTime() - end).as(state.toString()).isNegative();
            Thread.sleep(20);
            state = state();
        }
        return state;
    }

    /** Waits until no scan is running. */
    void awaitEnd() throws Exception {
        var _ = await(state -> state.path("walks").isEmpty());
    }

    JsonNode awaitClean() throws Exception {
        return await(state -> state.path("state").asString().equals("clean")
                && state.path("walks").isEmpty());
    }

    /** Scrubs, and returns the result. */
    JsonNode scrub(String body) throws Exception {
        var _ = change("scrub", body);
        return await(state -> state.path("walks").isEmpty() && state.path("lastScrub").isObject())
                .path("lastScrub");
    }

    @Override
    public void close() throws Exception { fixture.close(); }
}
