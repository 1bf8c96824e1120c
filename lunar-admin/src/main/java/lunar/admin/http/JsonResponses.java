package lunar.admin.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
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

    /** Sends an error with a status, without its message if the request is a HEAD, whose response has no body. */
    static void error(ServerRequest request, ServerResponse response, Status status,
            String message) {
        if (request.prologue().method().equals(Method.HEAD)) {
            response.status(status).header(HeaderNames.CACHE_CONTROL, "no-store").send();
        } else {
            error(response, status, message);
        }
    }

    /** Sends the headers of a document. */
    static void head(ServerResponse response, String type, int length) {
        response.contentLength(length);
        response.header(HeaderNames.CONTENT_TYPE, type)
                .header(HeaderNames.CACHE_CONTROL, "no-store").send();
    }

    /** Sends a document that must not be cached. */
    static void bytes(ServerResponse response, String type, byte[] document) {
        response.header(HeaderNames.CONTENT_TYPE, type)
                .header(HeaderNames.CACHE_CONTROL, "no-store").send(document);
    }
}
