package lunar.cli;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;

import java.nio.file.Path;
import lunar.block.DeviceUri;
import lunar.store.FileDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar accept-loss}: lets a file be flushed again of which acknowledged writes were lost. */
@Command(name = "accept-loss",
        description = {
                "Accept that writes of a file which were acknowledged are lost, because the system could not write "
                        + "them back. Until then every flush and every write with FUA of it fails, also after a "
                        + "restart. Find out first why the disk failed, and check the data of every host that uses "
                        + "it, or restore them: reads tell from then on what is stored, which may be older than what "
                        + "they told before. A server need not be stopped."},
        footer = {"", "Example:", "  lunar accept-loss file:disk.img"})
final class AcceptLossCommand extends DeviceCommand {
    @Parameters(paramLabel = "URI", description = "The file, as the server's log names it.")
    private String uri = "";

    AcceptLossCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logErrorsOnly();
        DeviceUri parsed = DeviceUri.parse(uri);
        if (!parsed.scheme().equals("file") || parsed.rest().isEmpty()) {
            throw wrongUsage("accept-loss is for a file:, the one that the log names, not "
                    + DeviceUri.withoutSecret(uri));
        }
        String what = FileDevice.acceptLostWrites(Path.of(parsed.rest()));
        console().out().println("accepted for file:" + parsed.rest() + ": " + what);
        return 0;
    }
}
