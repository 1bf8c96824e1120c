package lunar.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import lunar.block.DeviceUri;
import lunar.block.Devices;

/** The URI of a member as it is kept: it means the same device from whatever directory. */
final class MemberUri {
    private static final String FILE = "file:";

    private MemberUri() {}

    /** The same device; a file's path is absolute, and a file that is lost is not made anew. */
    static String kept(String uri) throws Failure {
        String bare = Devices.withoutFilters(uri);
        if (!bare.regionMatches(true, 0, FILE, 0, FILE.length())) {
            return uri;
        }
        DeviceUri parsed = DeviceUri.parse(bare);
        String path;
        try {
            path = Path.of(parsed.rest()).toAbsolutePath().normalize().toString();
        } catch (InvalidPathException e) {
            throw new Failure("'" + uri + "' is no path: " + e.getReason(), e);
        }
        int question = bare.indexOf('?');
        String options = question < 0
                ? ""
                : bare.substring(question).replaceAll("(?<=[?&])size=[^&]*&?", "")
                        .replaceFirst("[?&]$", "");
        return uri.substring(0, uri.length() - bare.length()) + FILE + path + options;
    }
}
