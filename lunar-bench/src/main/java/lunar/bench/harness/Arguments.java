package lunar.bench.harness;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** Parses the arguments of a benchmark: {@code --name=value}, with defaults. */
public final class Arguments {
    private final Map<String, String> values;

    private Arguments(Map<String, String> values) { this.values = values; }

    public static Arguments parse(Map<String, String> defaults, String... args)
            throws BenchException {
        var values = new HashMap<>(defaults);
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            if (pair.length != 2 || !pair[0].startsWith("--")
                    || values.replace(pair[0].substring(2), pair[1]) == null) {
                throw new BenchException(arg + " is not --NAME=VALUE with a name of "
                        + new TreeSet<>(defaults.keySet()));
            }
        }
        return new Arguments(values);
    }

    /** Returns the arguments that have one of these names, or all others, for two parsers of one command line. */
    public static String[] select(Set<String> names, boolean having, String... args) {
        return Arrays.stream(args)
                .filter(arg -> names
                        .contains(arg.split("=", 2)[0].replaceFirst("--", "")) == having)
                .toArray(String[]::new);
    }

    public String text(String name) { return Objects.requireNonNull(values.get(name)); }

    public Path path(String name) { return Path.of(text(name)).toAbsolutePath(); }

    public int number(String name) throws BenchException {
        try {
            return Integer.parseInt(text(name));
        } catch (NumberFormatException e) {
            throw new BenchException(name + " must be a whole number, not " + text(name), e);
        }
    }

    /** Returns whole numbers with commas between them. */
    public int[] numbers(String name) throws BenchException {
        try {
            return Arrays.stream(text(name).split(",", -1)).mapToInt(Integer::parseInt).toArray();
        } catch (NumberFormatException e) {
            throw new BenchException(name + " must be whole numbers with commas, not "
                    + text(name), e);
        }
    }
}
