package lunar.cli.rdma;

import lunar.cli.command.Console;
import lunar.cli.command.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code lunar rdma} command, which lists its subcommands. */
@Command(name = "rdma", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "List RDMA devices and measure their latency and bandwidth.",
        footer = {
                "",
                "Devices are verbs:NAME (RDMA adapters and the kernel's soft-RoCE), libfabric:tcp (any network) "
                        + "and libfabric:shm (processes of this machine).",
                "", "Examples:", "  lunar rdma devices",
                "  lunar rdma ping --device libfabric:tcp"})
public final class RdmaCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** Returns the command with its subcommands. */
    public static CommandLine line(Console console) {
        var line = new CommandLine(new RdmaCommand());
        line.addSubcommand(new RdmaDevicesCommand(console));
        line.addSubcommand(new RdmaRespondCommand(console));
        line.addSubcommand(new RdmaPingCommand(console));
        line.addSubcommand(new RdmaBenchCommand(console));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar rdma --help' lists the commands");
    }
}
