package lunar.fs;

/** Receives the entries of a directory in order. */
@FunctionalInterface
public interface EntryVisitor {
    /** @return whether to continue */
    boolean visit(DirectoryEntry entry);
}
