package lunar.cli.raid;

import lunar.cli.command.Console;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid rebuild}: waits until a volume is whole. */
@Command(name = "rebuild",
        description = "Continue pending work of a volume, such as rebuilds, the initial or an"
                + " interrupted resync, or a reshape, and wait for it.",
        footer = {"", "Example:", "  lunar raid rebuild raid5:vol"})
final class RaidRebuildCommand extends RaidVolumeCommand {
    RaidRebuildCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        try (VolumeControl volume = reach(spec)) {
            JsonNode status = new ScanWait(console(), volume).forRedundancy();
            String state = status.path("state").asString("");
            tell(status, spec.title() + " is " + state + (state.equals("degraded")
                    ? "; replace missing members with 'lunar raid replace "
                            + spec.title() + " SLOT NEWURI'"
                    : ""));
            return state.equals("clean") ? 0 : 1;
        }
    }
}
