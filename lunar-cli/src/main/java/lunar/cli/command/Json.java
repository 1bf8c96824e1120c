package lunar.cli.command;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Results for machines. Maps keep their order, so that the same command always writes the same text. */
public final class Json {
    private Json() {}

    /** A value of maps, lists, strings, numbers and booleans as indented JSON. */
    public static String text(Object value) {
        return JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build()
                .writeValueAsString(value);
    }
}
