package lunar.cli.osd;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.security.SecureRandom;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.osd.security.KeyText;
import lunar.osd.security.SecretKey;
import lunar.scsi.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code lunar osd newkey}: a file with a new master key. */
@Command(name = "newkey",
        description = "Write a new random master key into a file that other users cannot read.",
        footer = {
                "", "Examples:",
                "  lunar osd newkey objects.key",
                "  lunar serve 'osd:objects?create=true&security=cmdrsp&key-file=objects.key'"})
final class OsdNewKeyCommand extends DeviceCommand {
    @Parameters(paramLabel = "FILE", description = "The file, which must not exist.")
    private Path file = Path.of("");

    OsdNewKeyCommand(Console console) { super(console); }

    @Override
    protected int execute() throws IOException, Failure {
        byte[] key = new byte[SecretKey.LENGTH];
        new SecureRandom().nextBytes(key);
        try {
            SecretFile.create(file, KeyText.of(SecretKey.of(Bytes.of(key))));
        } catch (FileAlreadyExistsException e) {
            throw new Failure(file + " exists already; choose another name: a key that is in use"
                    + " must not be lost", e);
        }
        console().out().println("wrote " + file);
        return 0;
    }
}
