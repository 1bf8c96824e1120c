package lunar.cli.raid;

import java.util.Optional;
import lunar.cli.command.Console;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;

/** {@code lunar raid stop}: ends a running volume in order. */
@Command(name = "stop",
        description = "Stop a running volume in order. A server that serves it goes on with its"
                + " other devices; this one fails from then on.",
        footer = {"", "Example:", "  lunar raid stop raid5:vol"})
final class RaidStopCommand extends RaidVolumeCommand {
    RaidStopCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        VolumeSpec spec = spec();
        Optional<VolumeControl> running = running(spec);
        if (running.isEmpty()) {
            tellEnd(spec, volumes().uuid(spec), "stopped", spec.title() + " does not run");
            return 0;
        }
        try (VolumeControl there = running.get()) {
            long pid = there.status().path("pid").asLong(0);
            there.stop();
            tellEnd(spec, volumes().uuid(spec), "stopped",
                    "stopped " + spec.title() + ", which ran in process " + pid);
        }
        return 0;
    }
}
