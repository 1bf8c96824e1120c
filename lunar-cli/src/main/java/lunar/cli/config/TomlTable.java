package lunar.cli.config;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import lunar.cli.command.Failure;
import org.jspecify.annotations.Nullable;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;

/**
 * A table of a TOML file. A value that is wrong is an error of the file, reported to its {@link ConfigErrors} with its
 * place, and is otherwise as if it were not there; reading continues.
 */
final class TomlTable {
    /** A string of a list, and where it is. */
    record Text(String value, Place place) {}

    private final org.tomlj.TomlTable table;
    private final Place place;
    /** Such as "target iqn.2026-11.org.example:disk: ", for messages. */
    private final String where;
    private final ConfigErrors errors;
    private final TomlSource source;

    private TomlTable(org.tomlj.TomlTable table, Place place, String where, ConfigErrors errors,
            TomlSource source) {
        this.table = table;
        this.place = place;
        this.where = where;
        this.errors = errors;
        this.source = source;
    }

    /** The table that a file is; empty if it is not TOML, which is an error of the file. */
    static TomlTable read(Path path, ConfigErrors errors) throws Failure {
        TomlSource source;
        try {
            source = TomlSource.read(path);
        } catch (NoSuchFileException e) {
            throw new Failure("config file " + path + " does not exist", e);
        } catch (IOException e) {
            throw new Failure("config file " + path + " cannot be read; check that it is a"
                    + " readable text file of at most " + (TomlSource.MAX_BYTES >> 20) + " MiB", e);
        }
        return new TomlTable(parse(source.text(), errors), Place.START, "", errors, source);
    }

    private static org.tomlj.TomlTable parse(String text, ConfigErrors errors) {
        TomlParseResult parsed;
        try {
            parsed = Toml.parse(text);
        } catch (StackOverflowError _) { // the parser calls itself for each list in a list
            errors.add(Place.START, "not TOML: its lists or tables are nested too deeply");
            return Toml.parse("");
        }
        for (TomlParseError error : parsed.errors()) {
            errors.add(Place.of(error.position()), "not TOML: " + error.getMessage());
        }
        return parsed.hasErrors() ? Toml.parse("") : parsed;
    }

    /** Returns this table with messages that name its place in the file. */
    TomlTable named(String what) {
        return new TomlTable(table, place, where + what + ": ", errors, source);
    }

    ConfigErrors errors() { return errors; }

    /** Where the table begins. */
    Place place() { return place; }

    /** Where a key is; where the table is if it has no such key. */
    Place place(String key) {
        return has(key) ? Place.of(table.inputPositionOf(List.of(key))) : place;
    }

    /** @param of what it is, for the message */
    TomlTable requireKnown(Set<String> known, String of) {
        for (String key : keys()) {
            if (!known.contains(key)) {
                wrong(key, "unknown key '" + key + "'" + of + Spelling.nearest(key, known)
                        .map(word -> "; did you mean '" + word + "'?")
                        .orElseGet(() -> "; known keys: "
                                + String.join(", ", known.stream().sorted().toList())));
            }
        }
        return this;
    }

    boolean has(String key) { return table.contains(List.of(key)); }

    /** The keys, in the order of the file. */
    List<String> keys() {
        return table.keySet().stream()
                .sorted(Comparator.comparing((String key) -> place(key))
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    private @Nullable Object value(String key) { return table.get(List.of(key)); }

    Optional<String> text(String key) {
        Object value = value(key);
        if (value != null && !(value instanceof String)) {
            wrong(key, "'" + key + "' must be a string in quotes");
        }
        return value instanceof String text ? Optional.of(text) : Optional.empty();
    }

    /** A string without which the table makes no sense. */
    Optional<String> required(String key, Set<String> known, String message) {
        if (lacks(key, known)) {
            wrong(message);
        }
        return text(key);
    }

    /** Whether the table has neither a key nor an unknown one that is reported as a misspelling of it. */
    boolean lacks(String key, Set<String> known) {
        return !has(key) && table.keySet().stream().filter(one -> !known.contains(one))
                .noneMatch(one -> Spelling.nearest(one, known).equals(Optional.of(key)));
    }

    /**
     * Reads {@code USER:@FILE}, a name and the file of its secret. A value of another form may be a secret: the message
     * does not contain it. The value is returned nevertheless, so that what it protects does not seem to be open.
     */
    Optional<String> credentials(String key) {
        Optional<String> text = text(key);
        if (text.isPresent()) {
            int colon = text.get().indexOf(":@");
            if (colon <= 0 || colon + 2 == text.get().length()) {
                wrong(key, "'" + key + "' must be USER:@FILE, where FILE holds the secret");
            }
        }
        return text;
    }

    /** Parses a string; the parser's {@link IllegalArgumentException} describes errors. */
    <T> Optional<T> parsed(String key, Function<String, T> parser) {
        return text(key).flatMap(text -> parse(key, new Text(text, place(key)), parser));
    }

    <T> Optional<T> parse(String key, Text text, Function<String, T> parser) {
        try {
            return Optional.of(parser.apply(text.value()));
        } catch (IllegalArgumentException e) {
            wrong(text.place(), "'" + key + "': " + e.getMessage());
            return Optional.empty();
        }
    }

    boolean flag(String key) {
        Object value = value(key);
        if (value != null && !(value instanceof Boolean)) {
            wrong(key, "'" + key + "' must be true or false");
        }
        return Boolean.TRUE.equals(value);
    }

    OptionalInt number(String key, int min, int max) {
        Object value = value(key);
        if (value == null) {
            return OptionalInt.empty();
        }
        if (!(value instanceof Long number) || number < min || number > max) {
            wrong(key, "'" + key + "' must be a number from " + min + " to " + max);
            return OptionalInt.empty();
        }
        return OptionalInt.of(number.intValue());
    }

    /** A list of numbers, or empty where there is none. */
    Optional<List<Integer>> numbers(String key, int min, int max) {
        Object values = value(key);
        if (values == null) {
            return Optional.empty();
        }
        boolean right = values instanceof TomlArray;
        var list = new ArrayList<Integer>();
        for (Object value : values instanceof TomlArray array ? array.toList() : List.of()) {
            if (value instanceof Long number && number >= min && number <= max
                    && !list.contains(number.intValue())) {
                list.add(number.intValue());
            } else {
                right = false;
            }
        }
        if (!right) {
            wrong(key, "'" + key + "' must be a list of different numbers from " + min + " to "
                    + max + ", as in " + key + " = [" + min + "]");
            return Optional.empty();
        }
        return Optional.of(list);
    }

    boolean isEmptyList(String key) {
        return value(key) instanceof TomlArray array && array.isEmpty();
    }

    boolean isTable(String key) { return value(key) instanceof org.tomlj.TomlTable; }

    Optional<TomlTable> table(String key) {
        Object value = value(key);
        if (value != null && !(value instanceof org.tomlj.TomlTable)) {
            wrong(key, "'" + key + "' must be a table, as in " + key + " = { ... }");
        }
        return value instanceof org.tomlj.TomlTable inner
                ? Optional.of(new TomlTable(inner, place(key), where, errors, source))
                : Optional.empty();
    }

    /** Tables that each begin with the key in double brackets. */
    List<TomlTable> tables(String key) {
        Object values = value(key);
        boolean right = values == null || values instanceof TomlArray;
        var list = new ArrayList<TomlTable>();
        if (values instanceof TomlArray array) {
            for (int i = 0; i < array.size(); i++) {
                if (array.get(i) instanceof org.tomlj.TomlTable inner) {
                    list.add(new TomlTable(inner, source.element(array.inputPositionOf(i)), where,
                            errors, source));
                } else {
                    right = false;
                }
            }
        }
        if (!right) {
            wrong(key, "'" + key + "' must be a table of tables; begin each with [[" + key
                    + "]]");
        }
        return list;
    }

    /** A list of texts or of tables, each read by the one or the other; an empty result is left out. */
    <T> List<T> list(String key, String example, Function<Text, Optional<T>> ofText,
            Function<TomlTable, Optional<T>> ofTable) {
        Object values = value(key);
        if (values != null && !(values instanceof TomlArray)) {
            wrong(key,
                    "'" + key + "' must be a list, as in " + key + " = [\"" + example + "\"]");
        }
        var list = new ArrayList<T>();
        if (values instanceof TomlArray array) {
            for (int i = 0; i < array.size(); i++) {
                Place at = source.element(array.inputPositionOf(i));
                switch (array.get(i)) {
                    case String text -> ofText.apply(new Text(text, at)).ifPresent(list::add);
                    case org.tomlj.TomlTable inner -> ofTable
                            .apply(new TomlTable(inner, at, where, errors, source))
                            .ifPresent(list::add);
                    default -> wrong(at, "'" + key + "' must be a list of strings, as in " + key
                            + " = [\"" + example + "\"], or of tables in braces");
                }
            }
        }
        return list;
    }

    /** A list of texts alone. */
    List<Text> texts(String key, String example) {
        return list(key, example, Optional::of, table -> {
            wrong(table.place(), "'" + key + "' must be a list of strings, as in " + key + " = [\""
                    + example + "\"]");
            return Optional.empty();
        });
    }

    /** Reports an error in the value of a key. */
    void wrong(String key, String message) {
        wrong(place(key), message);
    }

    /** Reports an error of the whole table. */
    void wrong(String message) { wrong(place, message); }

    void wrong(Place at, String message) { errors.add(at, where + message); }

    void warn(Place at, String message) { errors.warn(at, where + message); }
}
