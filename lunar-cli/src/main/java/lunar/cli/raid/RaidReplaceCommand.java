package lunar.cli.raid;

import lunar.cli.command.Console;
import lunar.raid.metadata.DegradedStart;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar raid replace}: another device in a slot. */
@Command(name = "replace",
        description = "Replace the member of a slot by another device and rebuild it; the old member is"
                + " failed first, if it has not. The config file is updated.",
        footer = {
                "", "Example:",
                "  lunar raid replace raid5:vol 2 iscsi://10.0.0.9/iqn.2026-11.org.example:new/0"})
final class RaidReplaceCommand extends RaidOperationCommand {
    @Parameters(index = "1", paramLabel = "SLOT|URI",
            description = "The slot number, or the URI of its member.")
    private String slot = "";

    @Parameters(index = "2", paramLabel = "NEWURI", description = "The new member.")
    private String fresh = "";

    @Option(names = "--force", description = "Destroy the data on the new member.")
    private boolean force;

    @Option(names = "--wait", description = "Wait for the rebuild, even if another process does"
            + " it.")
    private boolean wait;

    RaidReplaceCommand(Console console) { super(console); }

    @Override
    int execute(Operated volume) throws Exception {
        String uri = volume.kept(fresh);
        JsonNode before = volume.status();
        make(volume, fresh);
        int number = volume.control().replace(volume.slot(slot), uri, force);
        keepNamed(volume, before.path("slots").path(number).path("uri").asString(""), uri);
        if (volume.isAwaited(wait)) {
            JsonNode status = new ScanWait(console(), volume.control()).forRedundancy();
            tell(status, "slot " + number + " has " + shown(uri) + ", and " + volume.title()
                    + " is " + status.path("state").asString(""));
        } else {
            tell(volume.status(), "slot " + number + " has " + shown(uri)
                    + " and is being rebuilt; 'lunar raid rebuild " + volume.title()
                    + "' waits for it");
        }
        return 0;
    }

    /** Permits a degraded start: an operator who replaces a member knows that it is missing. */
    @Override
    VolumeSpec checked(VolumeSpec spec) {
        return spec.options().degradedStart() == DegradedStart.REFUSED
                ? spec.withOptions(spec.options().withDegradedStart(DegradedStart.ALLOWED))
                : spec;
    }
}
