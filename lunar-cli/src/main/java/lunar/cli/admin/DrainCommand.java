package lunar.cli.admin;

import java.io.IOException;
import java.util.Map;
import lunar.admin.client.AdminClient;
import lunar.cli.command.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code lunar drain}: keeps initiators out. */
@Command(name = "drain",
        description = "Refuse logins and ask all initiators to log out, so that hosts with multipath change to their"
                + " other paths; sessions that stay are ended. Lasts until 'lunar drain --end' or the server ends.",
        footer = {"", "Examples:", "  lunar drain --wait 30",
                "  lunar drain --target iqn.2026-11.org.example:disk", "  lunar drain --end"})
public final class DrainCommand extends AdminCommand {
    private static final int MAX_WAIT_SECONDS = 120;

    @Option(names = "--target", paramLabel = "IQN",
            description = "Drain this target only. Default: the whole server.")
    private @Nullable String target;

    @Option(names = "--wait", paramLabel = "SECONDS",
            description = "Time that initiators have to log out, 1 to 120. Default: 10.")
    private @Nullable Integer wait;

    @Option(names = "--end", description = "Accept logins again.")
    private boolean end;

    public DrainCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException {
        if (wait != null && end) {
            throw wrongUsage("--wait and --end exclude each other");
        }
        if (wait != null && (wait < 1 || wait > MAX_WAIT_SECONDS)) {
            throw wrongUsage("--wait must be 1 to " + MAX_WAIT_SECONDS);
        }
        String path = target == null
                ? "/v1/drain"
                : "/v1/targets/" + AdminClient.segment(target) + "/drain";
        String what = target == null ? "the server" : target;
        if (end) {
            JsonNode document = client.delete(path);
            if (!printsJson(document)) {
                console().out().println(what + " accepts logins again");
            }
            return 0;
        }
        JsonNode document = client.post(path,
                wait == null ? Map.of() : Map.of("waitSeconds", wait));
        int sessions = document.path("sessions").asInt(0);
        int ended = document.path("ended").asInt(0);
        if (!printsJson(document)) {
            console().out().println(what + " accepts no logins; " + (ended == sessions
                    ? "sessions ended: " + ended
                    : "sessions ended: " + ended + " of " + sessions
                            + ", commands of the others still run"));
        }
        return ended == sessions ? 0 : 1;
    }
}
