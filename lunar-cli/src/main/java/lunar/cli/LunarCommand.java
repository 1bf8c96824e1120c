package lunar.cli;

import lunar.cli.command.Version;

import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Model.CommandSpec;

/** The {@code lunar} command, which lists its subcommands. */
@Command(name = "lunar", mixinStandardHelpOptions = true, versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Block storage over the network: serve devices, browse the files on "
                + "them, copy and measure them.",
        footer = {
                "",
                "A device is written as a URI:",
                "  ram:1GiB                       memory",
                "  file:disk.img?size=1GiB        a sparse file, created if a size is given; "
                        + "io=buffered|sendfile|mapped|direct|sync",
                "  disk:/dev/sdb                  a whole disk",
                "  encrypt=disk.key:file:disk.img  any of these, encrypted with a key of 'lunar key create'",
                "  osd:DIR?create=true            an object store, to serve; 'lunar osd' uses it",
                "  iscsi://[user[%%secret]@]host[:port]/iqn/lun?header-digest=crc32c",
                "  iscsis://host[:port]/iqn/lun?tls-ca=ca.pem  the same over TLS",
                "  raid5:vol                      a volume of several devices, from the config file; "
                        + "also raid0: raid1: raid6: raid10: linear:",
                "  raid5:vol?member=URI&member=URI  the same without a config file, each URI's %% and & "
                        + "as %%25 and %%26",
                "",
                "Example:",
                "  lunar serve ram:1GiB & lunar info iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0",
                "",
                "'lunar COMMAND --help' describes a command, with an example."})
final class LunarCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "missing command; 'lunar --help' lists the commands");
    }
}
