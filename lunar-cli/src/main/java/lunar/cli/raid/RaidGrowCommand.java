package lunar.cli.raid;

import lunar.block.Size;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid grow}: one member more. */
@Command(name = "grow",
        description = "Add a member to a volume while it is in use: a linear volume appends its blocks,"
                + " RAID 1 adds a copy, which is made in the background, and all other levels"
                + " redistribute their blocks in the background and are larger afterwards. The member is added to"
                + " the config file.",
        footer = {
                "", "Examples:", "  lunar raid grow linear:archive file:/srv/more.img",
                "  lunar raid grow raid5:vol file:/srv/fourth.img --wait",
                "  lunar raid grow raid1:small iscsi://10.0.0.9/iqn.2026-11.org.example:third/0"})
final class RaidGrowCommand extends RaidOperationCommand {
    @Parameters(index = "1", paramLabel = "URI", description = "The new member.")
    private String fresh = "";

    @Option(names = "--force", description = "Destroy the data on the new member.")
    private boolean force;

    @Option(names = "--wait",
            description = "Wait until data is copied or moved, even if another process does it.")
    private boolean wait;

    RaidGrowCommand(Console console) { super(console); }

    @Override
    int execute(Operated volume) throws Exception {
        String uri = volume.kept(fresh);
        make(volume, fresh);
        int slot = volume.control().grow(uri, force);
        keepNamed(volume, "", uri);
        JsonNode status = volume.isAwaited(wait)
                ? new ScanWait(console(), volume.control()).forRedundancy()
                : volume.status();
        tell(status, "slot " + slot + " of " + volume.title() + " is " + shown(uri)
                + ", and it is " + status.path("state").asString("") + ", of "
                + Size.format(status.path("sizeBytes").asLong(0)));
        return 0;
    }
}
