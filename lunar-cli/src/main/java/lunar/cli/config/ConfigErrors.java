package lunar.cli.config;

import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import lunar.cli.command.Failure;

/** Collects the errors of a config file, so that all of them are found in one run. Not thread-safe. */
public final class ConfigErrors {
    private final Path file;
    private final TreeSet<ConfigError> found = new TreeSet<>();

    ConfigErrors(Path file) { this.file = file; }

    /** Adds an error, unless it is known already. */
    void add(Place place, String message) {
        found.add(new ConfigError(file, place, false, message));
    }

    void warn(Place place, String message) {
        found.add(new ConfigError(file, place, true, message));
    }

    /** Whether there is an error at a place. */
    boolean isWrong(Place place) {
        return found.stream().anyMatch(one -> !one.isWarning() && one.place().equals(place));
    }

    /** Returns errors and warnings, in the order of the file. */
    public List<ConfigError> all() {
        return List.copyOf(found);
    }

    /** Returns the errors alone, in the order of the file. */
    List<ConfigError> errors() {
        return found.stream().filter(one -> !one.isWarning()).toList();
    }

    /** @throws Failure with the first error, and the number of the others */
    void require() throws Failure {
        List<ConfigError> errors = errors();
        if (!errors.isEmpty()) {
            int more = errors.size() - 1;
            throw new Failure(errors.getFirst() + (more == 0
                    ? ""
                    : " (and " + more + " more error" + (more == 1 ? "" : "s")
                            + "; 'lunar config check " + file + "' lists them)"));
        }
    }
}
