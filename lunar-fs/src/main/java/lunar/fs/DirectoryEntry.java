package lunar.fs;

/**
 * An entry of a directory.
 *
 * @param name never empty, {@code .} or {@code ..}, and without {@code /} and NUL, even in a corrupt image; see
 *        {@link Names} for bytes that are not text
 * @param kind {@link Kind#UNKNOWN} if the directory does not contain it
 * @param id identifies the entry's {@link Node} in the view: an inode number, or a position on the volume
 */
public record DirectoryEntry(String name, Kind kind, long id) {
    /** Whether this can be a name; the image may hold others, which are shown with U+FFFD for what cannot be. */
    static boolean isName(String name) {
        return !name.isEmpty() && !name.equals(".") && !name.equals("..");
    }
}
