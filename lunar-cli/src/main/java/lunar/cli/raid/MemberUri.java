package lunar.cli.raid;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.cli.command.Failure;
import lunar.cli.config.ReadOnlyUri;
import lunar.raid.metadata.Candidate;
import lunar.raid.service.MemberSearch;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;

/** Handles URIs of members: their content, and their stored form, which is independent of the current directory. */
final class MemberUri {
    private static final String FILE = "file:";

    private MemberUri() {}

    /** Searches devices for members; they are only read. */
    static List<Candidate> look(List<String> uris) {
        return MemberSearch.look(uris, uri -> Devices.open(ReadOnlyUri.lenient(uri)));
    }

    /** The process that runs a volume now, as its members tell, which are only read. Blocks. */
    static Optional<VolumeOwner> owner(VolumeSpec spec) {
        return VolumeOwner.look(spec, uri -> Devices.open(ReadOnlyUri.lenient(uri)));
    }

    /** Returns a URI of the same device; a file's path is absolute, and a lost file is not recreated. */
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
