package lunar.cli.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The JSON Schema of config files, a resource beside this class. */
public final class ConfigSchema {
    private ConfigSchema() {}

    /** Returns the schema as JSON. */
    public static String text() throws IOException {
        try (var in = ConfigSchema.class.getResourceAsStream("lunar.schema.json")) {
            return new String(Objects.requireNonNull(in, "no lunar.schema.json beside this class")
                    .readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
