package lunar.admin.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Serves the dashboard page and its assets. They contain no data and need no token; the page's script calls the API
 * with the token that the operator enters.
 */
final class Dashboard {
    /**
     * The page runs only its own script, which cannot turn text into markup, and connects to no other server; no other
     * page can embed it.
     */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
    private static final String PAGE = "index.html";
    private static final Map<String, String> TYPES = Map.of("html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8", "js", "text/javascript; charset=utf-8", "svg",
            "image/svg+xml");
    /** The page and its assets, by path. */
    private static final Map<String, Asset> ASSETS = assets("dashboard.css", "icon.svg",
            "dashboard.js", "server.js", "rates.js", "chart.js", "table.js", "tables.js",
            "volumes.js", "events.js", "format.js");

    private Dashboard() {}

    private static Map<String, Asset> assets(String... names) {
        var assets = new HashMap<String, Asset>();
        assets.put("/", Asset.read(PAGE));
        assets.put("/" + PAGE, Asset.read(PAGE));
        for (String name : names) {
            assets.put("/ui/" + name, Asset.read(name));
        }
        return Map.copyOf(assets);
    }

    @SuppressWarnings("ArrayRecordComponent") // sent only, never compared
    private record Asset(String type, byte[] content) {
        static Asset read(String name) {
            String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
            try (InputStream in = Dashboard.class.getResourceAsStream("ui/" + name)) {
                return new Asset(Objects.requireNonNull(type, name),
                        Objects.requireNonNull(in, name).readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void addHeaders(ServerResponse response) {
            response.header(HeaderNames.create("Content-Security-Policy"), POLICY)
                    .header(HeaderNames.create("X-Content-Type-Options"), "nosniff")
                    .header(HeaderNames.create("Referrer-Policy"), "no-referrer")
                    .header(HeaderNames.create("Cross-Origin-Opener-Policy"), "same-origin")
                    .header(HeaderNames.create("Cross-Origin-Resource-Policy"), "same-origin");
        }

        void send(ServerResponse response) {
            addHeaders(response);
            JsonResponses.bytes(response, type, content);
        }

        /** Answers to HEAD. */
        void describe(ServerResponse response) {
            addHeaders(response);
            JsonResponses.head(response, type, content.length);
        }
    }

    /** Whether a path is the page or a part of it. */
    static boolean has(String path) {
        return ASSETS.containsKey(path);
    }

    /** Adds the routes of the page, for GET and HEAD. */
    static void addTo(HttpRouting.Builder routing) {
        ASSETS.forEach((path, asset) -> routing
                .route(Method.GET, path, (_, response) -> asset.send(response))
                .route(Method.HEAD, path, (_, response) -> asset.describe(response)));
    }
}
