package lunar.cli.admin;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import lunar.admin.client.AdminClient;
import lunar.block.Size;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code lunar sessions}: who uses a running server. */
@Command(name = "sessions",
        description = "Show the sessions of a running server: who, from where, for how long, and how much."
                + " --json has the negotiated values and latencies too.",
        footer = {"", "Examples:", "  lunar sessions", "  lunar sessions --json"})
public final class SessionsCommand extends AdminCommand {
    public SessionsCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException {
        JsonNode document = client.get("/v1/sessions");
        if (printsJson(document)) {
            return 0;
        }
        var table = new Table("TSIH", "INITIATOR", "TARGET", "FROM", "AGE", "IN FLIGHT", "READ",
                "WRITTEN");
        for (JsonNode session : document.path("sessions")) {
            var from = new ArrayList<String>();
            session.path("connections").forEach(
                    connection -> from.add(connection.path("initiator").asString("")));
            JsonNode commands = session.path("commands");
            table.add(session.path("tsih").asInt(0), session.path("initiator").asString(""),
                    session.path("target").asString(""),
                    from.isEmpty() ? "(no connection)" : String.join(",", from),
                    StatusCommand.age(Duration.between(
                            Instant.parse(session.path("since").asString("")), Instant.now())),
                    commands.path("inFlight").asLong(0),
                    Size.format(commands.path("readBytes").asLong(0)),
                    Size.format(commands.path("writtenBytes").asLong(0)));
        }
        table.lines().forEach(console().out()::println);
        return 0;
    }
}
