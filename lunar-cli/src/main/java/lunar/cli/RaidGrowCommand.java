package lunar.cli;

import lunar.raid.run.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar raid grow}: one member more. */
@Command(name = "grow", description = "Make a volume larger by a member. Not possible yet.",
        footer = {"", "Example:", "  lunar raid grow linear:archive file:/srv/more.img"})
final class RaidGrowCommand extends RaidVolumeCommand {
    @Parameters(index = "1", paramLabel = "URI", description = "The new member.")
    private String fresh = "";

    RaidGrowCommand(Console console) { super(console); }

    @Override
    int execute() throws Exception {
        VolumeSpec spec = spec();
        throw new Failure(spec.title() + " cannot grow onto " + MemberUri.kept(fresh) + ": "
                + "there is no command for that yet; create a larger volume and"
                + " 'lunar copy' this one to it");
    }
}
