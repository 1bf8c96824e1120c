package lunar.cli.admin;

import java.io.IOException;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Base class of the commands that talk to a running server. */
@Command(exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:all is well", "1:the request was refused or failed",
                "2:wrong command line", "3:the server, a volume or a store is degraded (status)",
                "4:no server answers"})
abstract class AdminCommand extends DeviceCommand {
    @Mixin
    private final ServerSelector server = new ServerSelector();

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    AdminCommand(Console console) { super(console); }

    /** Whether JSON is wanted. */
    final boolean isJson() { return json; }

    @Override
    protected final int execute() throws Exception {
        logErrorsOnly();
        try {
            return execute(server.client());
        } catch (UnreachableException e) {
            throw ServerAddress.unreachable(e);
        }
    }

    /** Asks the server, and returns the exit status. */
    abstract int execute(AdminClient client) throws IOException, Failure;

    /** Prints a document as JSON if that is wanted; returns whether it is. */
    final boolean printsJson(JsonNode document) {
        if (json) {
            console().out().println(Json.text(document));
        }
        return json;
    }
}
