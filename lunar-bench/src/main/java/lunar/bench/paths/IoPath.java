package lunar.bench.paths;

import java.nio.file.Path;
import java.util.List;

/**
 * An I/O path from the disk to the wire inside a target.
 *
 * @param label in reports
 * @param tgtd whether it is a path of tgtd, otherwise of Lunar
 * @param option of the device: for Lunar what follows the file in its URI, for tgtd its {@code --bsoflags}
 * @param serve options of {@code lunar serve}
 */
record IoPath(String label, boolean tgtd, String option, List<String> serve) {
    /** All that are compared, in the order of the figures. */
    static final List<IoPath> ALL = List.of(
            lunar("sendfile", "io=sendfile"),
            lunar("buffered", "io=buffered"),
            lunar("mapped", "io=mapped"),
            lunar("direct", "io=direct"),
            lunar("sync", "io=sync"),
            new IoPath("tgtd", true, "", List.of()),
            new IoPath("tgtd direct", true, "direct", List.of()),
            new IoPath("tgtd sync", true, "sync", List.of()));

    private static IoPath lunar(String name, String query) {
        return new IoPath("Lunar " + name, false, query, List.of());
    }

    /** Where it is served; paths that need other options of the server have another one. */
    String server() {
        return tgtd ? "tgtd" : ("lunar " + String.join(" ", serve)).strip();
    }

    /** The device that {@code lunar serve} is to serve. */
    String uri(Path file) {
        return "file:" + file + (option.isEmpty() ? "" : "?" + option);
    }
}
