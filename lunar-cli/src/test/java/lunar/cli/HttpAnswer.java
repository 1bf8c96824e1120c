package lunar.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Response of an HTTP server; redirections are not followed. */
record HttpAnswer(int status, Map<String, List<String>> headers, byte[] body) {
    private static final int TIMEOUT_MS = 120_000;

    /** @param headers names and values in turn */
    static HttpAnswer to(String method, String url, String... headers) throws IOException {
        var connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
        connection.setInstanceFollowRedirects(false);
        connection.setReadTimeout(TIMEOUT_MS);
        connection.setRequestMethod(method);
        connection.setRequestProperty("Accept", "text/html,*/*");
        for (int i = 0; i < headers.length; i += 2) {
            connection.setRequestProperty(headers[i], headers[i + 1]);
        }
        int status = connection.getResponseCode();
        try (InputStream body = status >= 400
                ? connection.getErrorStream()
                : connection.getInputStream()) {
            return new HttpAnswer(status, connection.getHeaderFields(),
                    body == null ? new byte[0] : body.readAllBytes());
        }
    }

    /** A header's value, empty where there is none. */
    String header(String name) {
        return headers.entrySet().stream()
                .filter(each -> name.equalsIgnoreCase(each.getKey()))
                .map(each -> each.getValue().getFirst()).findFirst().orElse("");
    }

    String text() { return new String(body, StandardCharsets.UTF_8); }
}
