package lunar.cli.browse;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lunar.block.Size;
import lunar.fs.FileSystemView;
import lunar.fs.Names;
import lunar.fs.Node;

/** Prints files of a volume to the terminal. */
public final class BrowseTerminal {
    private static final int BUFFER_BYTES = 1 << 20;

    private final BrowsedDisk.Part part;
    private final FileSystemView files;

    /** @throws BrowsedDisk.NoFilesException if the volume has none that can be read */
    public BrowseTerminal(BrowsedDisk.Part part) throws BrowsedDisk.NoFilesException {
        this.part = part;
        files = part.requireFiles();
    }

    /** A line for each entry of a directory, or one for a file; names fit to be printed. */
    public List<String> list(String path) throws IOException {
        var lines = new ArrayList<String>();
        Listing listing = listing(path);
        for (Listing.Row row : listing.rows()) {
            Optional<Node> node = row.node();
            lines.add(String.format(Locale.ROOT, "%-10s %11s %9s  %-20s  %s%s%s",
                    node.map(Node::mode).orElse("?"),
                    node.map(each -> each.owner() + ":" + each.group()).orElse(""),
                    node.filter(Node::isFile).map(each -> Size.format(each.sizeBytes()))
                            .orElse("-"),
                    node.flatMap(Node::modified).map(BrowseTerminal::seconds).orElse("-"),
                    Names.printable(row.name()),
                    row.target().map(target -> " -> " + Names.printable(target)).orElse(""),
                    row.problem().isEmpty() ? "" : "  (" + row.problem() + ")"));
        }
        listing.notices().forEach(line -> lines.add("(" + line + ")"));
        return lines;
    }

    private static String seconds(Instant time) {
        return Instant.ofEpochSecond(time.getEpochSecond()).toString();
    }

    /** Like {@link #list}, but for machines. */
    public Map<String, Object> tree(String path) throws IOException {
        return BrowseJson.listing(part.volume().number(), path, files.info(), listing(path));
    }

    private Listing listing(String path) throws IOException {
        Node node = files.find(path);
        return node.isDirectory()
                ? Listing.of(files, node, Listing.Order.DEFAULT, 1, Integer.MAX_VALUE)
                : Listing.ofOne(path.substring(path.lastIndexOf('/') + 1), node);
    }

    /** Writes the content of a file. */
    public void cat(String path, OutputStream out) throws IOException {
        try (SeekableByteChannel channel = files.newChannel(files.find(path))) {
            ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
            while (channel.read(buffer.clear()) > 0) {
                out.write(buffer.array(), 0, buffer.position());
            }
            out.flush();
        }
    }
}
