package lunar.cli.raid;

import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.cli.command.Console;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
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
final class RaidGrowCommand extends RaidVolumeCommand {
    @Parameters(index = "1", paramLabel = "URI", description = "The new member.")
    private String fresh = "";

    @Option(names = "--force", description = "Destroy the data on the new member.")
    private boolean force;

    @Option(names = "--wait",
            description = "Wait until data is copied or moved, even if another process does it.")
    private boolean wait;

    RaidGrowCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logWarningsOnly();
        VolumeSpec spec = spec();
        String uri = MemberUri.kept(fresh);
        try (VolumeControl volume = reach(spec)) {
            make(fresh);
            int slot = volume.grow(uri, force);
            keepNamed(spec, volume.status(), "", uri);
            boolean isWaiting = !volume.isElsewhere() || wait;
            JsonNode status = isWaiting
                    ? new ScanWait(console(), volume).forRedundancy()
                    : volume.status();
            tell(status, "slot " + slot + " of " + spec.title() + " is "
                    + DeviceUri.withoutSecret(uri) + ", and it is "
                    + status.path("state").asString("") + ", of "
                    + Size.format(status.path("sizeBytes").asLong(0)));
        }
        return 0;
    }
}
