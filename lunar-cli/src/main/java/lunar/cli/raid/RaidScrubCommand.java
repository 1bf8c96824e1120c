package lunar.cli.raid;

import java.io.IOException;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.raid.control.StatusPicture;
import lunar.raid.service.VolumeRequest;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid scrub}: reads and compares everything. */
@Command(name = "scrub",
        description = "Read and compare every block of every member; unreadable blocks are repaired"
                + " meanwhile. Exit status 1 if differences were found and not repaired.",
        footer = {"", "Example:", "  lunar raid scrub raid5:vol --repair"})
final class RaidScrubCommand extends RaidOperationCommand {
    @Option(names = "--repair",
            description = "Repair mismatches: if the wrong side cannot be determined, the"
                    + " data is assumed to be right.")
    private boolean repair;

    RaidScrubCommand(Console console) { super(console); }

    @Override
    VolumeSpec checked(VolumeSpec spec) throws IOException {
        VolumeRequest.Scrub.requireRedundancy(spec);
        return spec;
    }

    @Override
    int execute(Operated volume) throws Exception {
        volume.control().scrub(repair);
        JsonNode status = new ScanWait(console(), volume.control()).forScrub();
        JsonNode scrub = status.path("lastScrub");
        if (!scrub.isObject()) { // it is just being stopped, or grows
            throw new Failure(volume.title() + " cannot scrub now: try again later");
        }
        tell(status, "scrub of " + volume.title() + ": " + StatusPicture.scrub(scrub));
        boolean isRight = scrub.path("clean").asBoolean(false)
                || (repair && scrub.path("why").asString("").isEmpty()
                        && scrub.path("skipped").asLong(0) == 0);
        return isRight ? 0 : 1;
    }
}
