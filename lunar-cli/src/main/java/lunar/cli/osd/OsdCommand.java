package lunar.cli.osd;

import lunar.cli.command.Console;
import lunar.cli.command.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code lunar osd} command, which lists its subcommands. */
@Command(name = "osd", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Format an object store (OSD-2), list, write and read its objects.",
        footer = {
                "",
                "The URI names the device, iscsi://[user[%%secret]@]host[:port]/iqn/lun; partitions and objects are "
                        + "numbers from 0x10000 on.",
                "", "Examples:",
                "  lunar osd mkpart iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0",
                "  lunar osd put iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 --file film.mp4"})
public final class OsdCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** Returns the command with its subcommands. */
    public static CommandLine line(Console console) {
        var line = new CommandLine(new OsdCommand());
        line.addSubcommand(new OsdFormatCommand(console));
        line.addSubcommand(new OsdMakePartitionCommand(console));
        line.addSubcommand(new OsdRemovePartitionCommand(console));
        line.addSubcommand(new OsdListCommand(console));
        line.addSubcommand(new OsdPutCommand(console));
        line.addSubcommand(new OsdGetCommand(console));
        line.addSubcommand(new OsdRemoveCommand(console));
        line.addSubcommand(new OsdAttributesCommand(console));
        line.addSubcommand(new OsdNewKeyCommand(console));
        line.addSubcommand(new OsdGrantCommand(console));
        line.addSubcommand(new OsdSetKeyCommand(console));
        line.addSubcommand(new OsdS3Command(console));
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar osd --help' lists the commands");
    }
}
