package lunar.fs;

/** The kind of an entry of a directory. */
public enum Kind {
    /** Has content. */
    FILE,
    /** Has entries. */
    DIRECTORY,
    /** Has a target, which is a path. */
    SYMLINK,
    /** A character device. */
    CHARACTER_DEVICE,
    /** A block device. */
    BLOCK_DEVICE,
    /** A named pipe. */
    FIFO,
    /** A local socket. */
    SOCKET,
    /** Unknown: the entry does not say, and its {@link FileSystemView#node node} may; or nothing that is known. */
    UNKNOWN
}
