package lunar.fs;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Resolves a path from the root. Not reusable. */
final class PathWalk {
    private static final int MAX_PATH_CHARS = 16 << 10;

    /** Links on one way, as Linux has it. */
    private static final int MAX_LINKS = 40;

    private final FileSystemView view;
    private final Deque<Node> way = new ArrayDeque<>();
    private int links;

    PathWalk(FileSystemView view) { this.view = view; }

    Node find(String path, boolean followLast) throws IOException {
        way.push(view.root());
        var rest = new ArrayDeque<String>();
        prepend(rest, path);
        while (!rest.isEmpty()) {
            String name = rest.pop();
            if (name.equals("..")) {
                if (way.size() > 1) {
                    way.pop();
                }
                continue;
            }
            Node next = child(way.element(), name, path);
            if (next.isSymlink() && (followLast || !rest.isEmpty())) {
                if (++links > MAX_LINKS) {
                    throw new NotFoundException(
                            quoted(path) + " resolves through more than " + MAX_LINKS + " links");
                }
                String target = view.target(next);
                if (target.startsWith("/")) {
                    way.clear();
                    way.push(view.root());
                }
                prepend(rest, target);
            } else {
                way.push(next);
            }
        }
        return way.element();
    }

    private static void prepend(Deque<String> rest, String path) throws NotFoundException {
        if (path.length() > MAX_PATH_CHARS) {
            throw new NotFoundException("a path has more than " + MAX_PATH_CHARS + " characters");
        }
        String[] names = path.split("/", -1);
        for (int i = names.length - 1; i >= 0; i--) {
            if (!names[i].isEmpty() && !names[i].equals(".")) {
                rest.push(names[i]);
            }
        }
    }

    private Node child(Node directory, String name, String path) throws IOException {
        if (!directory.isDirectory()) {
            throw new NotFoundException(quoted(path) + " does not exist"
                    + ": the parent of '" + Names.printable(name) + "' is not a directory");
        }
        var search = new Search(name, view.ignoresCase());
        view.visit(directory, search);
        DirectoryEntry found = search.found;
        if (found == null) {
            throw new NotFoundException(quoted(path) + " does not exist");
        }
        return view.node(found);
    }

    private static String quoted(String path) { return "'" + Names.printable(path) + "'"; }

    /** Finds the exact name, or, if case is ignored, one that differs only in case. */
    private static final class Search implements EntryVisitor {
        private final String name;
        private final boolean ignoresCase;
        private @Nullable DirectoryEntry found;

        Search(String name, boolean ignoresCase) {
            this.name = name;
            this.ignoresCase = ignoresCase;
        }

        @Override
        public boolean visit(DirectoryEntry entry) {
            if (entry.name().equals(name)) {
                found = entry;
                return false;
            }
            if (ignoresCase && found == null && entry.name().equalsIgnoreCase(name)) {
                found = entry;
            }
            return true;
        }
    }
}
