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
                "Accept that acknowledged writes to a file are lost, because the system could not write "
                        + "them back. Until then, every flush and every write with FUA of the file fails, also after a "
                        + "restart. First find out why the disk failed, and check or restore the data of every "
                        + "host that uses the file: from then on reads return the stored data, which may be "
                        + "older than data read before. A server does not have to be stopped."},
        footer = {"", "Example:", "  lunar accept-loss file:disk.img"})
final class AcceptLossCommand extends DeviceCommand {
    @Parameters(paramLabel = "URI", description = "The file, as named in the server's log.")
    private String uri = "";

    AcceptLossCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logErrorsOnly();
        DeviceUri parsed = DeviceUri.parse(uri);
        if (!parsed.scheme().equals("file") || parsed.rest().isEmpty()) {
            throw wrongUsage("accept-loss needs the file: URI from the log, not "
                    + DeviceUri.withoutSecret(uri));
        }
        String what = FileDevice.acceptLostWrites(Path.of(parsed.rest()));
        console().out().println("accepted the loss of file:" + parsed.rest() + ": " + what);
        return 0;
    }
}
