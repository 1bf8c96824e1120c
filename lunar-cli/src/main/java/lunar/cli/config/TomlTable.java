package lunar.cli.config;

import lunar.cli.command.Failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.toml.TomlMapper;

/** A table of a TOML file. Errors in values are one line that names the file and the key. */
final class TomlTable {
    private final Path path;
    private final JsonNode table;
    /** Such as "target iqn.2026-11.org.example:disk: ", for messages. */
    private final String where;

    private TomlTable(Path path, JsonNode table, String where) {
        this.path = path;
        this.table = table;
        this.where = where;
    }

    /** The table that a file is. */
    static TomlTable read(Path path) throws Failure {
        try {
            return new TomlTable(path, new TomlMapper().readTree(Files.readString(path)), "");
        } catch (NoSuchFileException e) {
            throw new Failure("config file " + path + " does not exist", e);
        } catch (IOException e) {
            throw new Failure("config file " + path + " cannot be read; check that it is a"
                    + " readable text file", e);
        } catch (JacksonException e) {
            var at = e.getLocation();
            throw new Failure("config file " + path + (at == null ? "" : " line " + at.getLineNr())
                    + " is not TOML: " + e.getOriginalMessage(), e);
        }
    }

    /** Returns this table with messages that name its place in the file. */
    TomlTable named(String what) {
        return new TomlTable(path, table, what + ": ");
    }

    /** @param of what it is, for the message */
    TomlTable requireKnown(Set<String> known, String of) throws Failure {
        for (String key : table.propertyNames()) {
            if (!known.contains(key)) {
                throw wrong("unknown key '" + key + "'" + of + "; known keys: "
                        + String.join(", ", known.stream().sorted().toList()));
            }
        }
        return this;
    }

    boolean has(String key) { return table.has(key); }

    List<String> keys() { return List.copyOf(table.propertyNames()); }

    Optional<String> text(String key) throws Failure {
        JsonNode value = table.path(key);
        if (value.isMissingNode()) {
            return Optional.empty();
        }
        if (!value.isString()) {
            throw wrong("'" + key + "' must be a string in quotes");
        }
        return Optional.of(value.stringValue());
    }

    /** Parses a string; the parser's {@link IllegalArgumentException} describes errors. */
    <T> Optional<T> parsed(String key, Function<String, T> parser) throws Failure {
        Optional<String> text = text(key);
        return text.isEmpty() ? Optional.empty() : Optional.of(parse(key, text.get(), parser));
    }

    <T> T parse(String key, String text, Function<String, T> parser) throws Failure {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw wrong("'" + key + "': " + e.getMessage());
        }
    }

    boolean flag(String key) throws Failure {
        JsonNode value = table.path(key);
        if (!value.isMissingNode() && !value.isBoolean()) {
            throw wrong("'" + key + "' must be true or false");
        }
        return value.asBoolean(false);
    }

    OptionalInt number(String key, int min, int max) throws Failure {
        JsonNode value = table.path(key);
        if (value.isMissingNode()) {
            return OptionalInt.empty();
        }
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < min
                || value.intValue() > max) {
            throw wrong("'" + key + "' must be a number from " + min + " to " + max);
        }
        return OptionalInt.of(value.intValue());
    }

    /** A list of numbers, or empty where there is none. */
    Optional<List<Integer>> numbers(String key, int min, int max) throws Failure {
        JsonNode values = table.path(key);
        if (values.isMissingNode()) {
            return Optional.empty();
        }
        boolean right = values.isArray();
        var list = new ArrayList<Integer>();
        for (JsonNode value : values) {
            right &= value.isIntegralNumber() && value.canConvertToInt() && value.intValue() >= min
                    && value.intValue() <= max && !list.contains(value.intValue());
            list.add(value.asInt(0));
        }
        if (!right) {
            throw wrong("'" + key + "' must be a list of different numbers from " + min + " to "
                    + max + ", as in " + key + " = [" + min + "]");
        }
        return Optional.of(list);
    }

    boolean isTable(String key) { return table.path(key).isObject(); }

    Optional<TomlTable> table(String key) throws Failure {
        JsonNode value = table.path(key);
        if (value.isMissingNode()) {
            return Optional.empty();
        }
        if (!value.isObject()) {
            throw wrong("'" + key + "' must be a table, as in " + key + " = { ... }");
        }
        return Optional.of(new TomlTable(path, value, where));
    }

    /** Tables that each begin with the key in double brackets. */
    List<TomlTable> tables(String key) throws Failure {
        JsonNode values = table.path(key);
        boolean right = values.isMissingNode() || values.isArray();
        var list = new ArrayList<TomlTable>();
        for (JsonNode value : values) {
            right &= value.isObject();
            list.add(new TomlTable(path, value, where));
        }
        if (!right) {
            throw wrong("'" + key + "' must be a table of tables; begin each with [[" + key + "]]");
        }
        return list;
    }

    /** A list of texts or of tables, each read by the one or the other. */
    <T> List<T> list(String key, String example, Reader<String, T> ofText,
            Reader<TomlTable, T> ofTable) throws Failure {
        JsonNode values = table.path(key);
        if (!values.isMissingNode() && !values.isArray()) {
            throw wrong("'" + key + "' must be a list, as in " + key + " = [\"" + example + "\"]");
        }
        var list = new ArrayList<T>();
        for (JsonNode value : values) {
            if (value.isString()) {
                list.add(ofText.read(value.stringValue()));
            } else if (value.isObject()) {
                list.add(ofTable.read(new TomlTable(path, value, where)));
            } else {
                throw wrong("'" + key + "' must be a list of strings, as in " + key + " = [\""
                        + example + "\"], or of tables in braces");
            }
        }
        return list;
    }

    /** Reads one value. */
    @FunctionalInterface
    interface Reader<F, T> {
        T read(F from) throws Failure;
    }

    Failure wrong(String what) { return new Failure("config file " + path + ": " + where + what); }
}
