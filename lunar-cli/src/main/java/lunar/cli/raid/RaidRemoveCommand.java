package lunar.cli.raid;

import lunar.block.DeviceUri;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar raid remove}: a spare less. */
@Command(name = "remove",
        description = "Remove a spare from a volume and from the config file; the device can then be"
                + " used otherwise.",
        footer = {"", "Example:", "  lunar raid remove raid5:vol file:/srv/spare.img"})
final class RaidRemoveCommand extends RaidOperationCommand {
    @Parameters(index = "1", paramLabel = "URI",
            description = "The spare; or its UUID, as shown by 'status --json'.")
    private String spare = "";

    RaidRemoveCommand(Console console) { super(console); }

    @Override
    int execute(Operated volume) throws Exception {
        String name = spare.contains(":") ? volume.kept(spare) : spare;
        volume.control().remove(name);
        tell(volume.status(), DeviceUri.withoutSecret(name) + " is no longer a spare of "
                + volume.title());
        return 0;
    }
}
