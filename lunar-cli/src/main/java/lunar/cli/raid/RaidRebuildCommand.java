package lunar.cli.raid;

import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid rebuild}: waits until a volume is whole. */
@Command(name = "rebuild",
        description = "Continue pending work of a volume, such as rebuilds, the initial or an"
                + " interrupted resync, or a reshape, and wait for it.",
        footer = {"", "Example:", "  lunar raid rebuild raid5:vol"})
final class RaidRebuildCommand extends RaidOperationCommand {
    RaidRebuildCommand(Console console) { super(console); }

    @Override
    int execute(Operated volume) throws Exception {
        JsonNode status = new ScanWait(console(), volume.control()).forRedundancy();
        String state = status.path("state").asString("");
        tell(status, volume.title() + " is " + state + (state.equals("degraded")
                ? "; replace missing members with 'lunar raid replace "
                        + volume.title() + " SLOT NEWURI'"
                : ""));
        return state.equals("clean") ? 0 : 1;
    }
}
