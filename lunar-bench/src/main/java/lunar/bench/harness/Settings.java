package lunar.bench.harness;

import java.nio.file.Path;
import java.util.Map;

/**
 * Settings of the command line.
 *
 * @param rounds how often everything is measured
 * @param seconds of one measurement
 * @param seed of the order within the rounds
 * @param works regular expression: which works are measured
 * @param pairs regular expression: which LUNs and clients
 * @param steadySeconds of the steady state, 0 for leaving it out
 * @param lunar the {@code lunar} command
 * @param directory for the backing file, logs and results
 * @param commit of the Lunar measured, for the record
 */
public record Settings(int rounds, int seconds, long seed, String works, String pairs,
        int steadySeconds,
        Path lunar, Path directory, String commit) {

    public static Settings parse(String... args) throws BenchException {
        var given = Arguments.parse(
                Map.of("rounds", "5", "seconds", "2", "seed", "1", "works", "", "pairs", "",
                        "steady", "60", "lunar", "./lunar", "dir", "lunar-bench/target/bench",
                        "commit", "unknown"),
                args);
        var settings = new Settings(given.number("rounds"), given.number("seconds"),
                given.number("seed"), given.text("works"), given.text("pairs"),
                given.number("steady"), given.path("lunar"), given.path("dir"),
                given.text("commit"));
        if (settings.rounds < 1 || settings.seconds < 2) {
            throw new BenchException("at least 1 round and 2 seconds are needed");
        }
        return settings;
    }
}
