package lunar.cli.osd;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.Progress;
import lunar.osd.client.ObjectExistsException;
import lunar.osd.client.Osd;
import lunar.osd.client.Partition;
import lunar.osd.client.UserObject;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.client.security.NoCredentialException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar osd put}: data into an object. */
@Command(name = "put",
        description = "Write standard input or a file into an object, and make it stable. An object that exists gets"
                + " other data; its attributes stay.",
        footer = {
                "", "Examples:",
                "  lunar osd put iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 --file film.mp4 --verify",
                "  tar c src | lunar osd put iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 0x10000 0x10001"})
final class OsdPutCommand extends OsdTransferCommand {
    @Parameters(index = "2", arity = "0..1", paramLabel = "OBJECT",
            converter = ObjectNumber.Converter.class,
            description = "Number of the object. Default: a new one, which the store chooses.")
    private @Nullable Long object;

    @Option(names = "--name", paramLabel = "TEXT",
            description = "Name of the object, an attribute.")
    private @Nullable String name;

    OsdPutCommand(Console console) { super(console); }

    @Override
    void checkArguments() throws Failure {
        Path file = file();
        if (file != null && !Files.isReadable(file)) {
            throw new Failure("cannot read " + file + "; check the path");
        }
    }

    @Override
    void run(Osd osd) throws IOException, Failure {
        Partition into = osd.partition(partition());
        boolean created = true;
        UserObject target;
        if (object == null) {
            target = into.create();
        } else {
            target = into.object(object);
            try {
                var _ = into.create(object);
            } catch (ObjectExistsException | NoCredentialException _) {
                created = false; // with a credential for this object, it exists
            }
        }
        boolean done = false;
        try {
            put(osd, target);
            done = true;
        } finally {
            if (!done && created) {
                removeQuietly(target);
            }
        }
    }

    private void put(Osd osd, UserObject target) throws IOException, Failure {
        long lossesBefore = osd.losses();
        if (name != null) {
            target.set(new Attribute(UserObjectAttribute.USERNAME.id(), bytes(name)));
        }
        Transfer sent;
        Path file = file();
        long total = file == null ? 0 : Files.size(file);
        try (InputStream in = file == null ? System.in : Files.newInputStream(file);
                OutputStream out = target.openOutput();
                var progress = new Progress(console(), "put", Math.max(total, 1))) {
            sent = Transfer.copy(in, out, file == null ? _ -> {} : progress);
        }
        target.flush();
        osd.requireNoLoss(lossesBefore);
        if (isVerified()) {
            verify(target, sent);
        }
        tell(isJson(), sent.tree(target.id(), isVerified()),
                sent.line("put", target.id()) + (isVerified() ? "; verified" : ""));
    }

    private void verify(UserObject target, Transfer sent) throws IOException, Failure {
        try (InputStream in = target.openInput();
                var progress = new Progress(console(), "verify", Math.max(sent.bytes(), 1))) {
            Transfer read = Transfer.copy(in, OutputStream.nullOutputStream(), progress);
            if (!read.sha256().equals(sent.sha256())) {
                throw new Failure("object " + ObjectNumber.format(target.id()) + " has "
                        + read.bytes() + " bytes that differ from the " + sent.bytes()
                        + " bytes written; see whether another client writes it, and repeat");
            }
        }
    }

    private void removeQuietly(UserObject target) {
        try {
            target.remove();
        } catch (IOException e) {
            console().remark("object " + ObjectNumber.format(target.id())
                    + " is incomplete, and could not be removed: " + e.getMessage());
        }
    }
}
