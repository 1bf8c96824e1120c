package lunar.cli.browse;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.fs.FileSystemInfo;
import lunar.fs.Names;
import tools.jackson.databind.json.JsonMapper;

/** Content of the pages as JSON. */
public final class BrowseJson {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private BrowseJson() {}

    static String text(Object tree) { return MAPPER.writeValueAsString(tree); }

    /** The volumes of a device. */
    public static Map<String, Object> volumes(String uri, BrowsedDisk.Look look) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("uri", uri);
        tree.put("partitionTable", look.table().scheme().name().toLowerCase(Locale.ROOT));
        tree.put("volumes", look.parts().stream().map(BrowseJson::volume).toList());
        tree.put("notices", look.table().notices());
        return tree;
    }

    private static Map<String, Object> volume(BrowsedDisk.Part part) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("number", part.volume().number());
        tree.put("type", part.volume().type());
        tree.put("name", part.volume().name());
        tree.put("offsetBytes", part.volume().offsetBytes());
        tree.put("sizeBytes", part.volume().sizeBytes());
        part.files().ifPresentOrElse(files -> {
            FileSystemInfo info = files.info();
            tree.put("fileSystem", info.type());
            tree.put("label", info.label());
            tree.put("uuid", info.uuid());
            tree.put("notices", info.notices());
            tree.put("href", "/" + part.volume().number() + "/");
        }, () -> tree.put("problem", part.problem()));
        return tree;
    }

    /** A page of a directory. */
    public static Map<String, Object> listing(int volume, String path, FileSystemInfo info,
            Listing listing) {
        var notices = new ArrayList<>(info.notices());
        notices.addAll(listing.notices());
        var tree = new LinkedHashMap<String, Object>();
        tree.put("volume", volume);
        tree.put("path", Names.printable(path));
        tree.put("directories", listing.directories());
        tree.put("others", listing.others());
        tree.put("page", listing.page());
        tree.put("pages", listing.pages());
        tree.put("notices", notices);
        tree.put("entries", entries(listing.rows()));
        return tree;
    }

    private static List<Object> entries(List<Listing.Row> rows) {
        var entries = new ArrayList<>();
        for (Listing.Row row : rows) {
            var entry = new LinkedHashMap<String, Object>();
            entry.put("name", Names.printable(row.name()));
            entry.put("href", BrowsePath.encode(row.name()));
            entry.put("kind", row.kind().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            row.node().ifPresent(node -> {
                entry.put("sizeBytes", node.sizeBytes());
                node.modified().ifPresent(time -> entry.put("modified", time.toString()));
                entry.put("mode", node.mode());
                entry.put("owner", node.owner());
                entry.put("group", node.group());
            });
            row.target().ifPresent(target -> entry.put("target", Names.printable(target)));
            if (!row.problem().isEmpty()) {
                entry.put("problem", row.problem());
            }
            entries.add(entry);
        }
        return entries;
    }
}
