package lunar.cli.command;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes results as JSON. Maps keep their order, so that output is deterministic. */
public final class Json {
    private Json() {}

    /** A value of maps, lists, strings, numbers and booleans as indented JSON. */
    public static String text(Object value) {
        return JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build()
                .writeValueAsString(value);
    }
}
