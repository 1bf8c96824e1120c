package lunar.admin.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerResponse;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Sends responses with JSON. */
final class JsonResponses {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final String JSON = "application/json";

    private JsonResponses() {}

    /** Sends a tree of maps, lists, strings, numbers and booleans. */
    static void json(ServerResponse response, Map<String, Object> tree) {
        bytes(response, JSON, MAPPER.writeValueAsBytes(tree));
    }

    /** Sends an error, whose message is one line for a person. */
    static void error(ServerResponse response, String message) {
        json(response, Map.of("error", message));
    }

    /** Sends an error with a status. */
    static void error(ServerResponse response, Status status, String message) {
        error(response.status(status), message);
    }

    /** Sends a document, which nobody shall keep. */
    static void bytes(ServerResponse response, String type, byte[] document) {
        response.header(HeaderNames.CONTENT_TYPE, type)
                .header(HeaderNames.CACHE_CONTROL, "no-store").send(document);
    }
}
