package lunar.fs;

/** Sees the entries of a directory, one after the other. */
@FunctionalInterface
public interface EntryVisitor {
    /** @return whether to go on */
    boolean visit(DirectoryEntry entry);
}
