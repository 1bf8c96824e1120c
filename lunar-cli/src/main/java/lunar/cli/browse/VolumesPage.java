package lunar.cli.browse;

import lunar.block.Size;
import lunar.fs.FileSystemInfo;

/** HTML page that lists the volumes of a device. */
final class VolumesPage {
    private VolumesPage() {}

    static String of(String uri, BrowsedDisk.Look look) {
        var page = new Html("Volumes – Lunar", uri);
        page.raw("<nav class=\"path\"><b>Volumes</b></nav>\n");
        look.table().notices().forEach(page::note);
        page.raw("<div class=\"card\"><table><thead><tr><th class=\"num\">#</th><th>Volume</th>")
                .raw("<th>File system</th><th class=\"num\">Size</th>")
                .raw("<th class=\"wide\">Starts at</th></tr></thead>\n<tbody>\n");
        for (BrowsedDisk.Part part : look.parts()) {
            page.raw(
                    "<tr><td class=\"num\">" + part.volume().number() + "</td><td class=\"name\">");
            part.files().ifPresentOrElse(files -> {
                page.icon("dir", "dir").raw("<a href=\"/" + part.volume().number() + "/\">")
                        .text(name(part)).raw("</a>");
                files.info().notices()
                        .forEach(line -> page.raw("<br><span class=\"bad\">").text(line)
                                .raw("</span>"));
            }, () -> page.icon("other", "").text(name(part)).raw("<br><span class=\"to\">")
                    .text(part.problem()).raw("</span>"));
            page.raw("</td><td class=\"dim\">")
                    .text(part.files().map(files -> files.info().type()).orElse("–"))
                    .raw("</td><td class=\"num\">").size(part.volume().sizeBytes())
                    .raw("</td><td class=\"dim wide\">")
                    .text(Size.format(part.volume().offsetBytes())).raw("</td></tr>\n");
        }
        return page.raw("</tbody></table></div>\n<footer><span>Partition table: "
                + look.table().scheme() + "</span></footer>").end();
    }

    /** Returns the name of a volume: its label, its name in the table, or its type. */
    static String name(BrowsedDisk.Part part) {
        String label = part.files().map(files -> files.info()).map(FileSystemInfo::label)
                .orElse("");
        String name = part.volume().name();
        if (!label.isEmpty()) {
            return label;
        }
        return name.isEmpty() ? part.volume().type() : name;
    }
}
