package lunar.cli.osd;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.Progress;
import lunar.osd.client.Osd;
import lunar.osd.client.UserObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar osd get}: the data of an object. */
@Command(name = "get",
        description = "Write the data of an object to standard output or into a file.",
        footer = {
                "", "Examples:",
                "  lunar osd get iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001 > film.mp4",
                "  lunar osd get iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001 --file film.mp4 --verify"})
final class OsdGetCommand extends OsdTransferCommand {
    @Parameters(index = "2", paramLabel = "OBJECT", converter = ObjectNumber.Converter.class,
            description = "Number of the object.")
    private long object;

    OsdGetCommand(Console console) { super(console); }

    @Override
    void checkArguments() {
        if (file() == null && (isVerified() || isJson())) {
            throw wrongUsage((isVerified() ? "--verify" : "--json")
                    + " needs --file: standard output has the data");
        }
    }

    @Override
    void run(Osd osd) throws IOException, Failure {
        UserObject source = osd.partition(partition()).object(object);
        Path file = file();
        if (file == null) {
            try (InputStream in = source.openInput()) {
                var _ = Transfer.copy(in, console().raw(), _ -> {});
            }
            return;
        }
        long length = source.length(); // before the file is replaced
        Transfer received;
        try (InputStream in = source.openInput(0, length);
                OutputStream out = Files.newOutputStream(file);
                var progress = new Progress(console(), "get", Math.max(length, 1))) {
            received = Transfer.copy(in, out, progress);
        }
        if (received.bytes() < length) {
            throw new Failure("object " + ObjectNumber.format(source.id()) + " has become shorter"
                    + " than its " + length + " bytes while it was read; repeat");
        }
        if (isVerified()) {
            verify(source, file, length);
        }
        tell(isJson(), received.tree(source.id(), isVerified()),
                received.line("got", source.id()) + (isVerified() ? "; verified" : ""));
    }

    private void verify(UserObject source, Path copy, long length) throws IOException, Failure {
        try (InputStream ofObject = source.openInput(0, length);
                InputStream ofFile = Files.newInputStream(copy);
                var progress = new Progress(console(), "verify", Math.max(length, 1))) {
            Transfer again = Transfer.copy(ofObject, OutputStream.nullOutputStream(), progress);
            Transfer written = Transfer.copy(ofFile, OutputStream.nullOutputStream(), _ -> {});
            if (!again.sha256().equals(written.sha256())) {
                throw new Failure(copy + " differs from object " + ObjectNumber.format(source.id())
                        + "; see whether another client writes it, and repeat");
            }
        }
    }
}
