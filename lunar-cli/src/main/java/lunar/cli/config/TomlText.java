package lunar.cli.config;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes the tree of a configuration as TOML, in the form of a config file. */
public final class TomlText {
    /** Lists whose elements begin with their key in double brackets. */
    private static final Set<String> TABLES = Set.of("portal-group", "volume", "target",
            "initiator");

    private final StringBuilder text = new StringBuilder();

    private TomlText() {}

    /** Returns a tree of maps, lists, strings, numbers and booleans as TOML. */
    public static String of(Map<?, ?> tree) {
        var writer = new TomlText();
        writer.table("", tree);
        return writer.text.toString();
    }

    /** Writes the values of a table, then the tables in it. */
    private void table(String path, Map<?, ?> table) {
        table.forEach((key, value) -> {
            if (!isTables(key, value) && !isTable(path, value)) {
                text.append(key).append(" = ").append(value(value)).append('\n');
            }
        });
        table.forEach((key, value) -> {
            if (isTable(path, value) && value instanceof Map<?, ?> inner) {
                text.append("\n[").append(key).append("]\n");
                table(key + ".", inner);
            } else if (isTables(key, value) && value instanceof List<?> list) {
                for (Object each : list) {
                    text.append("\n[[").append(path).append(key).append("]]\n");
                    table(path + key + ".", (Map<?, ?>) each);
                }
            }
        });
    }

    private static boolean isTable(String path, Object value) {
        return path.isEmpty() && value instanceof Map;
    }

    private static boolean isTables(Object key, Object value) {
        return value instanceof List && TABLES.contains(key);
    }

    private static String value(Object value) {
        return switch (value) {
            case String string -> VolumeTable.quoted(string);
            case Map<?, ?> map -> map.entrySet().stream()
                    .map(entry -> entry.getKey() + " = " + value(entry.getValue()))
                    .collect(Collectors.joining(", ", "{ ", " }"));
            case List<?> list when list.stream().anyMatch(Map.class::isInstance) -> list.stream()
                    .map(each -> "    " + value(each) + ",\n")
                    .collect(Collectors.joining("", "[\n", "]"));
            case List<?> list -> list.stream().map(TomlText::value)
                    .collect(Collectors.joining(", ", "[", "]"));
            default -> value.toString();
        };
    }
}
