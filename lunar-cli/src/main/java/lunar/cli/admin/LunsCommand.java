package lunar.cli.admin;

import java.io.IOException;
import java.util.Locale;
import lunar.admin.client.AdminClient;
import lunar.block.Size;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code lunar luns}: what a running server serves. */
@Command(name = "luns",
        description = "Show the logical units of a running server, and what initiators have done with them since"
                + " they are served. --json has errors by sense key and latencies too. 'temporary' are changes of"
                + " 'lunar lun', which the next start forgets.",
        footer = {"", "Examples:", "  lunar luns", "  lunar luns --json"})
public final class LunsCommand extends AdminCommand {
    /** Begins a line about a LUN that is not as in the config file. */
    static final String TEMPORARY = "temporary: ";

    private static final double MICROS_PER_MS = 1000;

    public LunsCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException {
        JsonNode document = client.get("/v1/luns");
        if (printsJson(document)) {
            return 0;
        }
        var table = new Table("TARGET", "LUN", "SIZE", "LIMIT", "READS", "READ", "WRITES",
                "WRITTEN",
                "ERRORS", "READ MS", "WRITE MS", "DEVICE");
        for (JsonNode unit : document.path("luns")) {
            JsonNode commands = unit.path("commands");
            long size = unit.path("sizeBytes").asLong(-1);
            table.add(unit.path("target").asString(""), unit.path("lun").asInt(0),
                    size < 0 ? "-" : Size.format(size), unit.path("limit").stringValue("-"),
                    commands.path("reads").asLong(0),
                    Size.format(commands.path("readBytes").asLong(0)),
                    commands.path("writes").asLong(0),
                    Size.format(commands.path("writtenBytes").asLong(0)), Rates.errors(commands),
                    ms(commands.path("readLatency")), ms(commands.path("writeLatency")),
                    unit.path("uri").asString(""));
        }
        table.lines().forEach(console().out()::println);
        document.path("temporaryChanges").forEach(change -> console().out()
                .println(TEMPORARY + change.path("text").asString("")));
        return 0;
    }

    private static String ms(JsonNode latency) {
        return String.format(Locale.ROOT, "%.3f",
                latency.path("meanMicros").asDouble(0) / MICROS_PER_MS);
    }
}
