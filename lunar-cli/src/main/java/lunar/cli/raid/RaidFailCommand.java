package lunar.cli.raid;

import lunar.cli.command.Console;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar raid fail}: takes a member out. */
@Command(name = "fail",
        description = "Take a member out of a volume, as if it had failed. It stays out, also when the"
                + " volume is started again, until 'raid add' takes it back or another is in its place.",
        footer = {
                "", "Examples:", "  lunar raid fail raid5:vol 2",
                "  lunar raid fail raid5:vol file:/srv/c.img"})
final class RaidFailCommand extends RaidVolumeCommand {
    @Parameters(index = "1", paramLabel = "SLOT|URI",
            description = "The number of the slot, or the URI of its member.")
    private String slot = "";

    RaidFailCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        try (VolumeControl volume = reach(spec)) {
            volume.fail(RaidReplaceCommand.slot(slot));
            tell(volume.status(), "slot " + slot + " of " + spec.title()
                    + " is out; put another device there with 'lunar raid replace "
                    + spec.title() + " " + slot + " NEWURI', or take it back with 'lunar raid add "
                    + spec.title() + " " + slot + "'");
        }
        return 0;
    }
}
