package lunar.cli.osd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.osd.client.AccessDeniedException;
import lunar.osd.client.CommandRejectedException;
import lunar.osd.client.NoSuchObjectException;
import lunar.osd.client.NotEmptyException;
import lunar.osd.client.ObjectExistsException;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdConnection;
import lunar.osd.client.OsdException;
import lunar.osd.client.QuotaExceededException;
import lunar.scsi.Bytes;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Base class of the commands for one object store: opens it, and says what to do about what it refuses. */
abstract class OsdDeviceCommand extends DeviceCommand {
    @Parameters(index = "0", paramLabel = "URI",
            description = "The object store, such as iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0.")
    private String uri = "";

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    @Mixin
    private AccessOptions access = new AccessOptions();

    OsdDeviceCommand(Console console) { super(console); }

    final AccessOptions access() { return access; }

    final boolean isJson() { return json; }

    @Override
    protected final int execute() throws Exception {
        logWarningsOnly();
        String problem = access.problem();
        if (problem != null) {
            throw wrongUsage(problem);
        }
        checkArguments();
        try (var connection = OsdConnection.open(uri, access.options())) {
            run(connection.osd());
            return 0;
        } catch (OsdException e) {
            throw failure(e);
        } catch (UncheckedIOException e) {
            throw e.getCause() instanceof OsdException refused ? failure(refused) : e.getCause();
        }
    }

    /** Refuses wrong arguments before anything is sent. */
    void checkArguments() throws IOException, Failure {}

    /** Does the work. */
    abstract void run(Osd osd) throws Exception;

    private static Failure failure(OsdException e) {
        String advice = switch (e) {
            case NoSuchObjectException _ -> "'lunar osd ls' lists what exists";
            case ObjectExistsException _ -> "choose another number, or leave it out";
            case NotEmptyException _ -> "--recursive removes it with its contents";
            case QuotaExceededException _ ->
                "remove objects, or raise the quota with 'lunar osd attr'";
            case AccessDeniedException _ ->
                "the store requires --key-file or --credential, and it has not accepted these; see"
                        + " its log";
            case CommandRejectedException _ -> "";
        };
        return new Failure(e.getMessage() + (advice.isEmpty() ? "" : "; " + advice), e);
    }

    /** Text as the value of an attribute. */
    static Bytes bytes(String text) {
        return Bytes.of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The value of an attribute as text. */
    static String text(Bytes value) {
        return new String(value.toArray(), StandardCharsets.UTF_8);
    }
}
