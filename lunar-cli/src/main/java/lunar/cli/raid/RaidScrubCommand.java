package lunar.cli.raid;

import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.raid.control.StatusPicture;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid scrub}: reads and compares everything. */
@Command(name = "scrub",
        description = "Read every block of every member and compare; what cannot be read is repaired"
                + " on the way. Exit status 1 where something is wrong and is not put right.",
        footer = {"", "Example:", "  lunar raid scrub raid5:vol --repair"})
final class RaidScrubCommand extends RaidVolumeCommand {
    @Option(names = "--repair",
            description = "Put right what does not match: where it cannot be told what is wrong, the"
                    + " data are taken for true.")
    private boolean repair;

    RaidScrubCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        if (!spec.level().isRedundant()) {
            throw new Failure(spec.title() + " has nothing to compare: " + spec.level()
                    + " keeps each block once");
        }
        try (VolumeControl volume = reach(spec)) {
            volume.scrub(repair);
            JsonNode status = new ScanWait(console(), volume).forScrub();
            JsonNode scrub = status.path("lastScrub");
            if (!scrub.isObject()) { // it is just being stopped, or grows
                throw new Failure(spec.title() + " takes no scrub now: try again");
            }
            tell(status, "scrub of " + spec.title() + ": " + StatusPicture.scrub(scrub));
            boolean isRight = scrub.path("clean").asBoolean(false)
                    || (repair && scrub.path("why").asString("").isEmpty()
                            && scrub.path("skipped").asLong(0) == 0);
            return isRight ? 0 : 1;
        }
    }
}
