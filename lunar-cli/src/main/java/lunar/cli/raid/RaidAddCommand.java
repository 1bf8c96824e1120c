package lunar.cli.raid;

import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid add}: a spare more, or a member back. */
@Command(name = "add",
        description = "Add a device as a spare of a volume; or re-add a member that 'fail' has"
                + " removed, and resync it. A new spare is added to the config file.",
        footer = {
                "", "Examples:", "  lunar raid add raid5:vol file:/srv/spare.img",
                "  lunar raid add raid5:vol 2"})
final class RaidAddCommand extends RaidOperationCommand {
    @Parameters(index = "1", paramLabel = "URI|SLOT",
            description = "The new spare; or the member to re-add, or its slot number.")
    private String device = "";

    @Option(names = "--force", description = "Destroy the data on the new spare.")
    private boolean force;

    @Option(names = "--wait", description = "Wait for the rebuild, even if another process does"
            + " it.")
    private boolean wait;

    RaidAddCommand(Console console) { super(console); }

    @Override
    int execute(Operated volume) throws Exception {
        String name = volume.slot(device);
        make(volume, device);
        int slot = volume.control().add(name, force);
        if (slot < 0) {
            tell(volume.status(), shown(name) + " is now a spare of " + volume.title());
        } else if (volume.isAwaited(wait)) {
            JsonNode status = new ScanWait(console(), volume.control()).forRedundancy();
            tell(status, "slot " + slot + " was re-added, and " + volume.title() + " is "
                    + status.path("state").asString(""));
        } else {
            tell(volume.status(), "slot " + slot + " of " + volume.title()
                    + " was re-added and is being resynced; 'lunar raid rebuild " + volume.title()
                    + "' waits for it");
        }
        return 0;
    }
}
