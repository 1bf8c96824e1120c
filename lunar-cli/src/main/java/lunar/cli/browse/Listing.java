package lunar.cli.browse;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.fs.CorruptException;
import lunar.fs.DirectoryEntry;
import lunar.fs.FileSystemView;
import lunar.fs.FsException;
import lunar.fs.Kind;
import lunar.fs.Node;
import org.jspecify.annotations.Nullable;

/**
 * Page of a directory listing: sorted entries, directories first.
 *
 * @param rows entries on this page
 * @param page its number, from 1
 * @param pages number of pages, at least 1
 * @param directories number of directories
 * @param others number of other entries
 * @param order sort order
 * @param notices notices for the user, one line each
 */
public record Listing(List<Row> rows, int page, int pages, int directories, int others,
        Order order, List<String> notices) {
    private static final int MAX_ENTRIES = 200_000;

    /** Largest directory that is sorted by what is in the inodes: all of them must be read for that. */
    private static final int MAX_NODES = 20_000;

    /** Sort keys of entries. */
    public enum Key {
        NAME, SIZE, TIME
    }

    /**
     * An order.
     *
     * @param key what counts
     * @param descending largest, latest, last first
     */
    public record Order(Key key, boolean descending) {
        /** Order by name. */
        public static final Order DEFAULT = new Order(Key.NAME, false);
    }

    /**
     * An entry.
     *
     * @param name as in the directory
     * @param node empty if it is damaged
     * @param kind type of the entry
     * @param target of a symbolic link that can be read
     * @param problem error of the entry, empty if none
     */
    public record Row(String name, Optional<Node> node, Kind kind, Optional<String> target,
            String problem) {
        private static Row of(FileSystemView files, DirectoryEntry entry) throws IOException {
            try {
                Node node = files.node(entry);
                Optional<String> target = node.isSymlink()
                        ? Optional.of(files.target(node))
                        : Optional.empty();
                return new Row(entry.name(), Optional.of(node), node.kind(), target, "");
            } catch (FsException e) {
                return new Row(entry.name(), Optional.empty(), entry.kind(), Optional.empty(),
                        String.valueOf(e.getMessage()));
            }
        }
    }

    public Listing {
        rows = List.copyOf(rows);
        notices = List.copyOf(notices);
    }

    /**
     * Reads a directory.
     *
     * @param page from 1; one behind the last is the last
     * @param pageRows rows of a page
     */
    public static Listing of(FileSystemView files, Node directory, Order order, int page,
            int pageRows) throws IOException {
        var notices = new ArrayList<String>();
        List<DirectoryEntry> entries = entries(files, directory, notices);
        entries.sort(comparator(files, entries, order, notices));
        int pages = Math.max(1, Math.ceilDiv(entries.size(), pageRows));
        int shown = Math.clamp(page, 1, pages);
        var rows = new ArrayList<Row>();
        int from = (shown - 1) * pageRows;
        for (DirectoryEntry entry : entries.subList(from,
                from + Math.min(pageRows, entries.size() - from))) {
            rows.add(Row.of(files, entry));
        }
        int directories = (int) entries.stream().filter(Listing::isDirectory).count();
        return new Listing(rows, shown, pages, directories, entries.size() - directories, order,
                notices);
    }

    /** Returns the listing of a single file. */
    static Listing ofOne(String name, Node node) {
        var row = new Row(name, Optional.of(node), node.kind(), Optional.empty(), "");
        return new Listing(List.of(row), 1, 1, 0, 1, Order.DEFAULT, List.of());
    }

    private static List<DirectoryEntry> entries(FileSystemView files, Node directory,
            List<String> notices) throws IOException {
        var entries = new ArrayList<DirectoryEntry>();
        try {
            files.visit(directory, entry -> entries.size() <= MAX_ENTRIES && entries.add(entry));
        } catch (CorruptException e) {
            notices.add("This directory is damaged; showing the readable part: "
                    + e.getMessage());
        }
        if (entries.size() > MAX_ENTRIES) {
            entries.removeLast();
            notices.add("This directory has more than " + MAX_ENTRIES
                    + " entries; showing the first ones.");
        }
        return entries;
    }

    private static boolean isDirectory(DirectoryEntry entry) {
        return entry.kind() == Kind.DIRECTORY;
    }

    private static Comparator<DirectoryEntry> comparator(FileSystemView files,
            List<DirectoryEntry> entries, Order order, List<String> notices) throws IOException {
        Comparator<DirectoryEntry> byName = Comparator
                .comparing(DirectoryEntry::name, NaturalOrder.INSTANCE)
                .thenComparing(DirectoryEntry::name);
        Comparator<DirectoryEntry> chosen = byName;
        if (order.key() != Key.NAME && entries.size() > MAX_NODES) {
            notices.add("With more than " + MAX_NODES
                    + " entries a directory is sorted by name only.");
        } else if (order.key() != Key.NAME) {
            Map<Long, Node> nodes = nodes(files, entries);
            chosen = order.key() == Key.SIZE
                    ? Comparator.comparingLong(entry -> size(nodes.get(entry.id())))
                    : Comparator.comparing(entry -> time(nodes.get(entry.id())));
        }
        Comparator<DirectoryEntry> directed = order.descending() ? chosen.reversed() : chosen;
        return Comparator.comparing((DirectoryEntry entry) -> !isDirectory(entry))
                .thenComparing(directed).thenComparing(byName);
    }

    private static long size(@Nullable Node node) {
        return node == null || node.isDirectory() ? 0 : node.sizeBytes();
    }

    private static Instant time(@Nullable Node node) {
        return node == null ? Instant.MIN : node.modified().orElse(Instant.MIN);
    }

    private static Map<Long, Node> nodes(FileSystemView files, List<DirectoryEntry> entries)
            throws IOException {
        var nodes = new HashMap<Long, Node>();
        for (DirectoryEntry entry : entries) {
            try {
                nodes.put(entry.id(), files.node(entry));
            } catch (FsException _) {
                // its row tells why
            }
        }
        return nodes;
    }
}
