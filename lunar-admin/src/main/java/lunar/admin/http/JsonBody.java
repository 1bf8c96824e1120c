package lunar.admin.http;

import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The body of a request: a JSON object of strings, numbers and booleans, or nothing, which is like an empty object.
 * Messages of errors do not repeat values, which may have secrets.
 */
final class JsonBody {
    /** Bytes of the longest body. */
    static final int MAX_BYTES = 64 << 10;

    private static final int MAX_DEPTH = 2;
    private static final JsonMapper MAPPER = JsonMapper
            .builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH).maxStringLength(MAX_BYTES).build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
            .build();

    private final JsonNode object;

    private JsonBody(JsonNode object) { this.object = object; }

    /**
     * Reads the body of a request. Blocks.
     *
     * @throws IllegalArgumentException if it is no JSON object, or too long; the message is one line for a person
     */
    static JsonBody read(ServerRequest request) throws IOException {
        if (!request.content().hasEntity()) {
            return new JsonBody(MAPPER.createObjectNode());
        }
        try (InputStream in = request.content().inputStream()) {
            return parse(in.readNBytes(MAX_BYTES + 1));
        }
    }

    static JsonBody parse(byte[] text) {
        if (text.length > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "the body has more than " + MAX_BYTES + " bytes");
        }
        if (text.length == 0) {
            return new JsonBody(MAPPER.createObjectNode());
        }
        try {
            JsonNode object = MAPPER.readTree(text);
            if (object.isObject()) {
                return new JsonBody(object);
            }
        } catch (JacksonException e) {
            System.getLogger("lunar.admin").log(System.Logger.Level.DEBUG,
                    "a body is no JSON, at {0}", e.getLocation());
        }
        throw new IllegalArgumentException("the body is no JSON object with each name once, such"
                + " as {\"slot\": 1}");
    }

    /** @throws IllegalArgumentException if there is another field than these */
    void requireKnown(Set<String> known) {
        if (!known.containsAll(object.propertyNames())) {
            throw new IllegalArgumentException(known.isEmpty()
                    ? "this request takes no fields: send no body"
                    : "the body has an unknown field; known are "
                            + String.join(", ", known.stream().sorted().toList()));
        }
    }

    boolean has(String name) { return !object.path(name).isMissingNode(); }

    /** @throws IllegalArgumentException if the field is missing or no string */
    String text(String name) {
        if (!object.path(name).isString()) {
            throw wrong(name, "a string");
        }
        return object.path(name).asString();
    }

    /** Returns a string, or an integer as a string; other values and its absence are errors. */
    String textOrNumber(String name) {
        JsonNode value = object.path(name);
        if (!value.isString() && !(value.isIntegralNumber() && value.canConvertToInt())) {
            throw wrong(name, "an integer or a string");
        }
        return value.isString() ? value.asString() : Integer.toString(value.asInt());
    }

    /** Returns a boolean; false if the field is missing. */
    boolean flag(String name) {
        if (has(name) && !object.path(name).isBoolean()) {
            throw wrong(name, "true or false");
        }
        return object.path(name).asBoolean(false);
    }

    /** Returns an integer; empty if the field is missing. */
    OptionalLong number(String name) {
        if (!has(name)) {
            return OptionalLong.empty();
        }
        JsonNode value = object.path(name);
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw wrong(name, "an integer");
        }
        return OptionalLong.of(value.asLong());
    }

    /**
     * Returns an integer of a range; empty if the field is missing.
     *
     * @throws IllegalArgumentException if it is something else; the message is one line for a person
     */
    OptionalLong number(String name, long min, long max) {
        OptionalLong value = number(name);
        if (value.isPresent() && (value.getAsLong() < min || value.getAsLong() > max)) {
            throw wrong(name, "an integer from " + min + " to " + max);
        }
        return value;
    }

    private static IllegalArgumentException wrong(String name, String what) {
        return new IllegalArgumentException("'" + name + "' of the body is not " + what);
    }
}
