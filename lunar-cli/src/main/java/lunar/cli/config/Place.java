package lunar.cli.config;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import org.tomlj.TomlPosition;

/**
 * Place in a config file.
 *
 * @param line from 1
 * @param column from 1, in characters
 */
public record Place(int line, int column) implements Comparable<Place> {
    /** The beginning of the file. */
    static final Place START = new Place(1, 1);

    private static final Comparator<Place> ORDER = Comparator.comparingInt(Place::line)
            .thenComparingInt(Place::column);

    static Place of(@Nullable TomlPosition position) {
        return position == null ? START : new Place(position.line(), position.column());
    }

    @Override
    public int compareTo(Place other) { return ORDER.compare(this, other); }

    /** Returns {@code LINE:COLUMN}. */
    @Override
    public String toString() { return line + ":" + column; }
}
