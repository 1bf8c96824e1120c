package lunar.cli.config;

import java.nio.file.Path;
import java.util.Comparator;

/**
 * An error in a config file, or a warning about it.
 *
 * @param file the file
 * @param place where in it
 * @param isWarning whether a server starts with it nevertheless
 * @param message one line that names the target and the key
 */
public record ConfigError(Path file, Place place, boolean isWarning, String message)
        implements
        Comparable<ConfigError> {
    private static final Comparator<ConfigError> ORDER = Comparator
            .comparing(ConfigError::place).thenComparing(ConfigError::isWarning)
            .thenComparing(ConfigError::message);

    @Override
    public int compareTo(ConfigError other) { return ORDER.compare(this, other); }

    /** Returns {@code FILE:LINE:COLUMN: MESSAGE}, the form of compilers, which editors can follow. */
    @Override
    public String toString() {
        return file + ":" + place + ": " + (isWarning ? "warning: " : "") + message;
    }
}
