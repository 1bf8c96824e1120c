package lunar.cli.raid;

import java.util.Optional;
import lunar.cli.command.Console;
import lunar.cli.raid.control.VolumeControl;
import lunar.raid.service.VolumeSpec;
import picocli.CommandLine.Command;

/** {@code lunar raid stop}: ends a running volume in order. */
@Command(name = "stop",
        description = "Stop a running volume cleanly. A server that serves it continues with its"
                + " other devices; requests to this one fail from then on.",
        footer = {"", "Example:", "  lunar raid stop raid5:vol"})
final class RaidStopCommand extends RaidVolumeCommand {
    RaidStopCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        VolumeSpec spec = spec();
        Optional<VolumeControl> running = running(spec);
        if (running.isEmpty()) {
            tellEnd(spec, volumes().uuid(spec), "stopped", spec.title() + " is not running");
            return 0;
        }
        try (VolumeControl there = running.get()) {
            long pid = there.status().path("pid").asLong(0);
            there.stop();
            tellEnd(spec, volumes().uuid(spec), "stopped",
                    "stopped " + spec.title() + ", which was running in process " + pid);
        }
        return 0;
    }
}
