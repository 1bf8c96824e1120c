package lunar.bench.harness;

import java.nio.file.Path;
import java.util.Map;

/**
 * Settings of the command line.
 *
 * @param rounds number of rounds
 * @param seconds duration of one measurement
 * @param seed seed of the order within the rounds
 * @param works regular expression of the workloads to measure
 * @param pairs regular expression of the pairs to measure
 * @param steadySeconds duration of the steady state measurement, 0 to skip it
 * @param lunar the {@code lunar} command
 * @param directory directory for the backing file, logs and results
 * @param commit measured commit of Lunar, for the report
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
