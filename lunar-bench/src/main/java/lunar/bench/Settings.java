package lunar.bench;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What the command line asks for.
 *
 * @param rounds how often everything is measured
 * @param seconds of one measurement
 * @param seed of the order within the rounds
 * @param lunar the {@code lunar} command
 * @param directory for the backing file, logs and results
 * @param commit of the Lunar measured, for the record
 */
record Settings(int rounds, int seconds, long seed, Path lunar, Path directory, String commit) {

    static Settings parse(String... args) throws BenchException {
        Map<String, String> given = new HashMap<>(
                Map.of("rounds", "5", "seconds", "3", "seed", "1", "lunar", "./lunar",
                        "dir", "lunar-bench/target/bench", "commit", "unknown"));
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            if (pair.length != 2 || !pair[0].startsWith("--")
                    || given.replace(pair[0].substring(2), pair[1]) == null) {
                throw new BenchException(arg
                        + " is not one of --rounds= --seconds= --seed= --lunar= --dir= --commit=");
            }
        }
        try {
            var settings = new Settings(Integer.parseInt(value(given, "rounds")),
                    Integer.parseInt(value(given, "seconds")), Long.parseLong(value(given, "seed")),
                    Path.of(value(given, "lunar")).toAbsolutePath(),
                    Path.of(value(given, "dir")).toAbsolutePath(), value(given, "commit"));
            if (settings.rounds < 1 || settings.seconds < 2) {
                throw new BenchException("at least 1 round and 2 seconds are needed");
            }
            return settings;
        } catch (NumberFormatException e) {
            throw new BenchException("rounds, seconds and seed are whole numbers", e);
        }
    }

    private static String value(Map<String, String> given, String name) {
        return Objects.requireNonNull(given.get(name));
    }
}
