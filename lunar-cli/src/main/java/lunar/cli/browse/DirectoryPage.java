package lunar.cli.browse;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import lunar.block.Size;
import lunar.fs.FileSystemInfo;
import lunar.fs.FileSystemView;
import lunar.fs.Kind;
import lunar.fs.Node;

/** HTML page of a directory. */
final class DirectoryPage {
    private static final DateTimeFormatter TIME = DateTimeFormatter
            .ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final Html page;
    private final BrowsedDisk.Look look;
    private final BrowsedDisk.Part part;
    private final FileSystemInfo info;
    private final BrowsePath path;
    private final Listing listing;

    DirectoryPage(String uri, BrowsedDisk.Look look, BrowsedDisk.Part part, FileSystemView files,
            BrowsePath path, Listing listing) {
        this.look = look;
        this.part = part;
        this.info = files.info();
        this.path = path;
        this.listing = listing;
        page = new Html((path.names().isEmpty() ? "/" : path.names().getLast()) + " – Lunar", uri);
    }

    String html() {
        if (!look.isWhole()) {
            volumes();
        }
        breadcrumbs();
        look.table().notices().forEach(page::note);
        info.notices().forEach(page::note);
        listing.notices().forEach(page::note);
        table();
        pages();
        footer();
        return page.end();
    }

    private void volumes() {
        page.raw("<div class=\"volumes\">");
        for (BrowsedDisk.Part each : look.parts()) {
            int number = each.volume().number();
            boolean here = number == part.volume().number();
            String end = each.files().isPresent() ? "</a>" : "</span>";
            page.raw(each.files().isPresent()
                    ? "<a href=\"/" + number + "/\"" + (here ? " class=\"here\"" : "") + ">"
                    : "<span class=\"off\">");
            page.text(number + " · " + VolumesPage.name(each)).raw("<small>")
                    .text(each.files().map(files -> files.info().type() + ", ").orElse("")
                            + Size.format(each.volume().sizeBytes()))
                    .raw("</small>").raw(end);
        }
        page.raw("</div>\n");
    }

    private void breadcrumbs() {
        List<String> names = path.names();
        String root = info.label().isEmpty() ? info.type() : info.label();
        page.raw("<nav class=\"path\" aria-label=\"Path\">");
        crumb(root, 0, names.isEmpty());
        for (int i = 1; i <= names.size(); i++) {
            page.raw("<i>/</i>");
            crumb(names.get(i - 1), i, i == names.size());
        }
        page.raw("</nav>\n");
    }

    private void crumb(String name, int depth, boolean last) {
        if (last) {
            page.raw("<b>").text(name).raw("</b>");
        } else {
            page.raw("<a href=\"" + path.href(depth) + "\">").text(name).raw("</a>");
        }
    }

    private void table() {
        page.raw("<div class=\"card\">");
        if (listing.rows().isEmpty()) {
            page.raw("<div class=\"empty\">This directory is empty.</div></div>\n");
            return;
        }
        page.raw("<table><thead><tr><th>");
        heading("Name", Listing.Key.NAME);
        page.raw("</th><th class=\"num\">");
        heading("Size", Listing.Key.SIZE);
        page.raw("</th><th>");
        heading("Modified (UTC)", Listing.Key.TIME);
        page.raw("</th><th class=\"wide\">Mode</th><th class=\"wide\">Owner</th><th></th></tr>")
                .raw("</thead>\n<tbody>\n");
        listing.rows().forEach(this::row);
        page.raw("</tbody></table></div>\n");
    }

    private void heading(String title, Listing.Key key) {
        boolean here = listing.order().key() == key;
        boolean descending = here && !listing.order().descending();
        page.raw("<a href=\"?sort=" + key.name().toLowerCase(Locale.ROOT)
                + (descending ? "&amp;order=desc" : "") + "\">" + title + "</a>");
        if (here) {
            page.raw(listing.order().descending() ? " ↓" : " ↑");
        }
    }

    private void row(Listing.Row row) {
        boolean directory = row.kind() == Kind.DIRECTORY;
        boolean leads = directory || row.kind() == Kind.FILE || row.kind() == Kind.SYMLINK;
        String href = "./" + BrowsePath.encode(row.name()) + (directory ? "/" : "");
        page.raw("<tr><td class=\"name\">").icon(icon(row.kind()), directory ? "dir" : "");
        if (leads && row.problem().isEmpty()) {
            page.raw("<a href=\"" + href + "\">").text(row.name()).raw("</a>");
        } else {
            page.text(row.name());
        }
        row.target().ifPresent(
                target -> page.raw(" <span class=\"to\">→ ").text(target).raw("</span>"));
        if (!row.problem().isEmpty()) {
            page.raw(" <span class=\"bad\">").text(row.problem()).raw("</span>");
        }
        page.raw("</td><td class=\"num\">");
        if (row.kind() == Kind.FILE) {
            row.node().ifPresent(node -> page.size(node.sizeBytes()));
        }
        page.raw("</td><td class=\"dim\">");
        row.node().flatMap(Node::modified).ifPresent(time -> page.text(shown(time)));
        page.raw("</td><td class=\"mono wide\">").raw(row.node().map(Node::mode).orElse(""))
                .raw("</td><td class=\"dim wide\">")
                .raw(row.node().map(node -> node.owner() + ":" + node.group()).orElse(""))
                .raw("</td><td class=\"save\">");
        if (row.kind() == Kind.FILE && row.problem().isEmpty()) {
            page.raw(
                    "<a href=\"" + href + "?download\" title=\"Download\" aria-label=\"Download\">")
                    .icon("save", "").raw("</a>");
        }
        page.raw("</td></tr>\n");
    }

    private static String icon(Kind kind) {
        return switch (kind) {
            case DIRECTORY -> "dir";
            case FILE -> "file";
            case SYMLINK -> "link";
            default -> "other";
        };
    }

    private static String shown(Instant time) {
        long year = time.atZone(ZoneOffset.UTC).getYear();
        return year >= 0 && year <= 9999 ? TIME.format(time) : Long.toString(year);
    }

    private void pages() {
        if (listing.pages() == 1) {
            return;
        }
        String sort = "sort=" + listing.order().key().name().toLowerCase(Locale.ROOT)
                + (listing.order().descending() ? "&amp;order=desc" : "") + "&amp;page=";
        page.raw("<nav class=\"pages\" aria-label=\"Pages\">");
        if (listing.page() > 1) {
            page.raw("<a href=\"?" + sort + (listing.page() - 1) + "\">← Previous</a>");
        }
        page.raw("<span>Page " + listing.page() + " of " + listing.pages() + "</span>");
        if (listing.page() < listing.pages()) {
            page.raw("<a href=\"?" + sort + (listing.page() + 1) + "\">Next →</a>");
        }
        page.raw("</nav>\n");
    }

    private void footer() {
        page.raw("<footer><span>" + counted(listing.directories(), "directory", "directories")
                + ", " + counted(listing.others(), "file", "files") + "</span><span>")
                .text(info.type() + (info.label().isEmpty() ? "" : " “" + info.label() + "”"))
                .raw(", ").size(info.sizeBytes()).raw("</span>");
        if (!info.uuid().isEmpty()) {
            page.raw("<span>").text(info.uuid()).raw("</span>");
        }
        page.raw("<span><a href=\"?format=json\">JSON</a></span></footer>\n");
    }

    private static String counted(int count, String one, String many) {
        return String.format(Locale.ROOT, "%,d %s", count, count == 1 ? one : many);
    }
}
