package lunar.cli.raid;

import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar raid fail}: takes a member out. */
@Command(name = "fail",
        description = "Mark a member of a volume as failed. It stays failed, also when the"
                + " volume is restarted, until 'raid add' re-adds it or another device replaces it.",
        footer = {
                "", "Examples:", "  lunar raid fail raid5:vol 2",
                "  lunar raid fail raid5:vol file:/srv/c.img"})
final class RaidFailCommand extends RaidOperationCommand {
    @Parameters(index = "1", paramLabel = "SLOT|URI",
            description = "The slot number, or the URI of its member.")
    private String slot = "";

    RaidFailCommand(Console console) { super(console); }

    @Override
    int execute(Operated volume) throws Exception {
        volume.control().fail(volume.slot(slot));
        tell(volume.status(), "slot " + slot + " of " + volume.title()
                + " is failed; replace it with 'lunar raid replace "
                + volume.title() + " " + slot + " NEWURI', or re-add it with 'lunar raid add "
                + volume.title() + " " + slot + "'");
        return 0;
    }
}
