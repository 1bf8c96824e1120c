package lunar.fs;

import java.time.Instant;
import java.util.Optional;

/**
 * A file, directory or link, independent of its names.
 *
 * @param id inode number, or position on the volume; unique in its view
 * @param kind type of the node
 * @param sizeBytes length of the content or of a link's target; never negative
 * @param modified last change of the content; empty if there is none. FAT stores local time without a zone, which is
 *        interpreted as UTC
 * @param permissions the lower twelve bits of a mode; on FAT derived from the read-only attribute, like a mount
 * @param owner user, 0 on FAT
 * @param group group, 0 on FAT
 */
public record Node(long id, Kind kind, long sizeBytes, Optional<Instant> modified, int permissions,
        long owner, long group) {
    private static final String BITS = "rwxrwxrwx";

    public boolean isDirectory() { return kind == Kind.DIRECTORY; }

    public boolean isFile() { return kind == Kind.FILE; }

    public boolean isSymlink() { return kind == Kind.SYMLINK; }

    /** Kind and permissions as {@code ls -l} writes them: {@code drwxr-xr-x}. */
    public String mode() {
        var text = new StringBuilder().append(switch (kind) {
            case FILE -> '-';
            case DIRECTORY -> 'd';
            case SYMLINK -> 'l';
            case CHARACTER_DEVICE -> 'c';
            case BLOCK_DEVICE -> 'b';
            case FIFO -> 'p';
            case SOCKET -> 's';
            case UNKNOWN -> '?';
        });
        for (int i = 0; i < BITS.length(); i++) {
            text.append((permissions & (0400 >> i)) != 0 ? BITS.charAt(i) : '-');
        }
        special(text, 3, 04000, 's');
        special(text, 6, 02000, 's');
        special(text, 9, 01000, 't');
        return text.toString();
    }

    private void special(StringBuilder text, int at, int bit, char letter) {
        if ((permissions & bit) != 0) {
            text.setCharAt(at, text.charAt(at) == 'x' ? letter : Character.toUpperCase(letter));
        }
    }
}
