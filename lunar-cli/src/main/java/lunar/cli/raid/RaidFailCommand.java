package lunar.cli.raid;

import lunar.cli.command.Console;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar raid fail}: takes a member out. */
@Command(name = "fail",
        description = "Mark a member of a volume as failed. It stays failed, also when the"
                + " volume is restarted, until 'raid add' re-adds it or another device replaces it.",
        footer = {
                "", "Examples:", "  lunar raid fail raid5:vol 2",
                "  lunar raid fail raid5:vol file:/srv/c.img"})
final class RaidFailCommand extends RaidVolumeCommand {
    @Parameters(index = "1", paramLabel = "SLOT|URI",
            description = "The slot number, or the URI of its member.")
    private String slot = "";

    RaidFailCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        try (VolumeControl volume = reach(spec)) {
            volume.fail(RaidReplaceCommand.slot(slot));
            tell(volume.status(), "slot " + slot + " of " + spec.title()
                    + " is failed; replace it with 'lunar raid replace "
                    + spec.title() + " " + slot + " NEWURI', or re-add it with 'lunar raid add "
                    + spec.title() + " " + slot + "'");
        }
        return 0;
    }
}
