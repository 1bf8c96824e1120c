package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests how the dashboard is served, and what holds for its sources. {@code DashboardIT} runs it in a browser. */
@Timeout(600)
class DashboardTest {
    /** WCAG 2.2, 1.4.3, level AA. */
    private static final double TEXT_CONTRAST = 4.5;
    /** WCAG 2.2, 1.4.11: borders of controls, and lines of charts. */
    private static final double GRAPHICS_CONTRAST = 3;
    private static final Pattern VARIABLE = Pattern.compile("--([a-z]+): (#[0-9a-f]{6});");
    private static final Pattern REFERENCE = Pattern
            .compile("(?:href|src)=\"(/[^\"]+)\"|from \"\\./([^\"]+)\"");

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    private HttpResponse<String> send(AdminFixture fixture, String method, String path)
            throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + fixture.admin.port().orElseThrow() + path);
        return client.send(HttpRequest.newBuilder(uri)
                .method(method, HttpRequest.BodyPublishers.noBody()).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static String resource(String name) throws IOException {
        try (var in = Objects.requireNonNull(Api.class.getResourceAsStream("ui/" + name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldServeThePageAndItsPartsWithoutAToken() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            assertThat(send(fixture, "GET", "/").body()).isEqualTo(resource("index.html"));
            var paths = new HashSet<>(Set.of("/", "/index.html"));
            var open = new HashSet<>(paths);
            while (!open.isEmpty()) { // follows references, also those of modules to modules
                String path = open.iterator().next();
                open.remove(path);
                HttpResponse<String> answer = send(fixture, "GET", path);
                assertThat(answer.statusCode()).as(path).isEqualTo(200);
                assertThat(header(answer, "Content-Type")).as(path).startsWith(type(path));
                assertProtected(answer);
                REFERENCE.matcher(answer.body()).results()
                        .map(found -> found.group(1) != null
                                ? found.group(1)
                                : "/ui/" + found.group(2))
                        .filter(paths::add).forEach(open::add);
            }
            assertThat(paths).contains("/ui/dashboard.js", "/ui/dashboard.css", "/ui/icon.svg",
                    "/ui/format.js");
            assertThat(paths).allMatch(Dashboard::has);
        }
    }

    private static String type(String path) {
        return switch (path.substring(path.lastIndexOf('.') + 1)) {
            case "js" -> "text/javascript";
            case "css" -> "text/css";
            case "svg" -> "image/svg+xml";
            default -> "text/html";
        };
    }

    private static void assertProtected(HttpResponse<?> answer) {
        assertThat(header(answer, "Content-Security-Policy")).contains("default-src 'none'",
                "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'")
                .doesNotContain("unsafe");
        assertThat(header(answer, "X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(header(answer, "Referrer-Policy")).isEqualTo("no-referrer");
        assertThat(header(answer, "Cache-Control")).isEqualTo("no-store");
    }

    @Test
    void shouldNeedTheTokenForDataOnly() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            for (String path : Set.of("/v1/status", "/v1/luns", "/v1/sessions", "/v1/volumes",
                    "/metrics", "/ui/../v1/status", "/ui/%2e%2e/v1/status", "//v1/status",
                    "/index.html/../v1/luns", "/ui/dashboard.js/../../v1/luns", "/ui", "/ui/",
                    "/ui/none.js", "/%69ndex.html/v1/luns", "/;x/v1/status")) {
                assertThat(send(fixture, "GET", path).statusCode()).as(path).isEqualTo(401);
            }
            for (String path : Set.of("/ui", "/ui/", "/ui/none.js", "/ui/../dashboard.js",
                    "/ui/index.html")) {
                assertThat(status(fixture, path)).as(path).isEqualTo(404);
            }
        }
    }

    /** Returns the status of a request with the token. */
    private int status(AdminFixture fixture, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + fixture.admin.port().orElseThrow() + path);
        return client.send(HttpRequest.newBuilder(uri)
                .header("Authorization", "Bearer " + AdminFixture.TOKEN).build(),
                HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    @Test
    void shouldAnswerToHeadAndNothingElse() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            for (String path : List.of("/", "/index.html", "/ui/dashboard.js")) {
                HttpResponse<String> get = send(fixture, "GET", path);
                HttpResponse<String> head = send(fixture, "HEAD", path);
                assertThat(head.statusCode()).isEqualTo(200);
                assertThat(head.body()).isEmpty();
                assertProtected(head);
                for (String name : Set.of("Content-Type", "Content-Length")) {
                    assertThat(header(head, name)).isEqualTo(header(get, name)).isNotEmpty();
                }
                assertThat(send(fixture, "POST", path).statusCode()).isEqualTo(404);
            }
            for (String path : List.of("/", "/ui/chart.js", "/v1/status", "/none")) {
                assertThat(afterHead(fixture, path)).as(path).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    /** Sends a HEAD and a GET over one connection, and returns what follows the headers of the first response. */
    private static String afterHead(AdminFixture fixture, String path) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(),
                fixture.admin.port().orElseThrow())) {
            String host = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
            socket.getOutputStream().write(("HEAD " + path + host + "GET /healthz" + host)
                    .getBytes(StandardCharsets.US_ASCII));
            var text = new StringBuilder();
            while (text.indexOf("{\"ok\":true}") < 0) {
                int next = socket.getInputStream().read();
                assertThat(next).as(text.toString()).isNotNegative();
                text.append((char) next);
            }
            return text.substring(text.indexOf("\r\n\r\n") + 4);
        }
    }

    @Test
    void shouldHaveNoInlineScriptAndSetTextOnly() throws Exception {
        assertThat(resource("index.html")).doesNotContain("style=", " on", "javascript:", "http")
                .doesNotContainPattern("<script(?! type=\"module\" src=\"/ui/dashboard.js\"></)");
        for (String name : Set.of("dashboard", "server", "rates", "chart", "table", "tables",
                "volumes", "events", "format")) {
            assertThat(resource(name + ".js").replace("http://www.w3.org/2000/svg", ""))
                    .doesNotContain("innerHTML", "outerHTML", "insertAdjacent", "document.write",
                            "eval(", "Function(", "localStorage", "http:", "https:");
        }
    }

    @Test
    void shouldHaveEnoughContrast() throws Exception {
        String css = resource("dashboard.css");
        int dark = css.indexOf("prefers-color-scheme: dark");
        Map<String, String> light = variables(css.substring(0, dark));
        var darkColours = new HashMap<>(light);
        darkColours.putAll(variables(css.substring(dark)));
        for (Map<String, String> colours : Set.of(light, Map.copyOf(darkColours))) {
            for (String on : Set.of("page", "panel")) {
                for (String text : Set.of("text", "dim", "good", "warn", "bad", "busy")) {
                    assertContrast(colours, text, on, TEXT_CONTRAST);
                }
                for (String graphics : Set.of("read", "write", "field", "focus")) {
                    assertContrast(colours, graphics, on, GRAPHICS_CONTRAST);
                }
            }
            assertContrast(colours, "text", "track", TEXT_CONTRAST);
            assertContrast(colours, "busy", "track", GRAPHICS_CONTRAST);
            assertContrast(colours, "dim", "track", GRAPHICS_CONTRAST);
        }
    }

    private static Map<String, String> variables(String css) {
        var found = new HashMap<String, String>();
        VARIABLE.matcher(css).results().forEach(one -> found.put(one.group(1), one.group(2)));
        return Map.copyOf(found);
    }

    private static void assertContrast(Map<String, String> colours, String one, String other,
            double least) {
        double a = luminance(colours.getOrDefault(one, ""));
        double b = luminance(colours.getOrDefault(other, ""));
        assertThat((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05))
                .as("contrast of %s on %s of %s", one, other, colours)
                .isGreaterThanOrEqualTo(least);
    }

    /** Returns the relative luminance of a colour, as WCAG defines it. */
    private static double luminance(String colour) {
        int rgb = Integer.parseInt(colour.substring(1), 16);
        return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) + 0.0722 * linear(rgb);
    }

    private static double linear(int level) {
        double value = (level & 0xff) / 255.0;
        return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }

    @Test
    void shouldTakeNoRequestsOfWebPagesOverTheUnixSocket() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            String end = "Connection: close\r\nContent-Length: 0\r\n\r\n";
            for (String request : new String[]{
                    "GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n",
                    "GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1:9460\r\n",
                    "POST /v1/reload HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"}) {
                assertThat(overUnixSocket(fixture, request + end)).contains(" 403 ")
                        .contains("token-file");
            }
            assertThat(overUnixSocket(fixture,
                    "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n" + end)).contains(" 200 ");
        }
    }

    private static String overUnixSocket(AdminFixture fixture, String request)
            throws IOException {
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(fixture.socket))) {
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(channel).readAllBytes(),
                    StandardCharsets.UTF_8);
        }
    }
}
