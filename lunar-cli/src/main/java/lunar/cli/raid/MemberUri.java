package lunar.cli.raid;

import java.util.List;
import java.util.Optional;
import lunar.block.Devices;
import lunar.cli.config.ReadOnlyUri;
import lunar.raid.metadata.Candidate;
import lunar.raid.service.MemberSearch;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;

/** Looks at devices by the URIs of members. */
final class MemberUri {
    private MemberUri() {}

    /** Searches devices for members; they are only read. */
    static List<Candidate> look(List<String> uris) {
        return MemberSearch.look(uris, uri -> Devices.open(ReadOnlyUri.lenient(uri)));
    }

    /** The process that runs a volume now, as its members tell, which are only read. Blocks. */
    static Optional<VolumeOwner> owner(VolumeSpec spec) {
        return VolumeOwner.look(spec, uri -> Devices.open(ReadOnlyUri.lenient(uri)));
    }
}
