package lunar.fs;

/** Type of a directory entry. */
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
    /** Unknown: not stored in the entry, but possibly in its {@link FileSystemView#node node}; or an unknown type. */
    UNKNOWN
}
