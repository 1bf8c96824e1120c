package lunar.fs;

/**
 * An entry of a directory.
 *
 * @param name never empty, {@code .} or {@code ..}, and without {@code /} and NUL, whatever the image says; see
 *        {@link Names} for bytes that are no text
 * @param kind {@link Kind#UNKNOWN} where the directory does not tell
 * @param id what the view knows the entry's {@link Node} by: an inode number, or a place on the volume
 */
public record DirectoryEntry(String name, Kind kind, long id) {
    /** Whether this can be a name; the image may hold others, which are shown with U+FFFD for what cannot be. */
    static boolean isName(String name) {
        return !name.isEmpty() && !name.equals(".") && !name.equals("..");
    }
}
