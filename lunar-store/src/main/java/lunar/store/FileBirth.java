package lunar.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes a file from its copies: by its inode number and the inode's birth time, which programs cannot set. Both
 * survive renaming. The device number is not part of it, because it changes at boot.
 *
 * @param inode number of the inode
 * @param born seconds and nanoseconds since 1970, or empty if the file system does not report it
 */
record FileBirth(String inode, String born) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,20})/(\\d{1,20}\\.\\d{1,10})?");

    /**
     * Looks at a file.
     *
     * @param file descriptor of it; null if the calls are not available
     */
    static FileBirth of(Path real, @Nullable LinuxFile file) throws IOException {
        Optional<FileBirth> told = file == null ? Optional.empty() : file.birth();
        if (told.isPresent()) {
            return told.get();
        }
        boolean numbered = real.getFileSystem().supportedFileAttributeViews().contains("unix");
        long inode = numbered ? (long) Files.getAttribute(real, "unix:ino") : 0;
        return new FileBirth(Long.toUnsignedString(inode), "");
    }

    /** Parses the output of {@link #toString}; empty if it is invalid. */
    static Optional<FileBirth> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Optional.of(new FileBirth(matcher.group(1),
                        matcher.group(2) == null ? "" : matcher.group(2)))
                : Optional.empty();
    }

    /** Whether both are of one file; times count where both are known. */
    boolean isSameFile(FileBirth other) {
        return inode.equals(other.inode)
                && (born.isEmpty() || other.born.isEmpty() || born.equals(other.born));
    }

    @Override
    public String toString() { return inode + "/" + born; }
}
