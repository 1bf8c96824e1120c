package lunar.cli.admin;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import lunar.admin.client.AdminClient;
import lunar.admin.client.RequestFailedException;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code lunar logout}: ends sessions. */
@Command(name = "logout",
        description = "Ask initiators to log out, and end their sessions after 2 s. An initiator may log in again:"
                + " to keep it out, remove it from the [[target.initiator]] tables and reload.",
        footer = {"", "Examples:", "  lunar logout 3",
                "  lunar logout --initiator iqn.1993-08.org.debian:01:host"})
public final class LogoutCommand extends AdminCommand {
    @Parameters(arity = "0..*", paramLabel = "TSIH",
            description = "Sessions, by the TSIH that 'lunar sessions' shows.")
    private List<Integer> sessions = new ArrayList<>();

    @Option(names = "--initiator", paramLabel = "IQN",
            description = "All sessions of this initiator.")
    private @Nullable String initiator;

    public LogoutCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException, Failure {
        var chosen = new LinkedHashSet<>(sessions);
        if (initiator != null) {
            chosen.addAll(sessionsOf(client, initiator));
        }
        if (chosen.isEmpty()) {
            throw wrongUsage("which session? Specify a TSIH, or --initiator IQN");
        }
        var results = new ArrayList<Map<String, Object>>();
        var errors = new ArrayList<String>();
        boolean allEnded = true;
        try {
            for (int tsih : chosen) {
                try {
                    boolean ended = end(client, tsih);
                    results.add(result(tsih, ended));
                    print(tsih, ended);
                    allEnded &= ended;
                } catch (RequestFailedException e) {
                    Map<String, Object> result = result(tsih, false);
                    result.put("error", String.valueOf(e.getMessage()));
                    results.add(result);
                    errors.add("session " + tsih + ": " + e.getMessage());
                }
            }
        } finally { // what was done is reported even if the server does not answer any longer
            if (isJson()) {
                console().out().println(Json.text(Map.of("sessions", results)));
            }
        }
        if (!errors.isEmpty() && !isJson()) {
            throw new Failure(String.join("; ", errors));
        }
        return allEnded && errors.isEmpty() ? 0 : 1;
    }

    private static List<Integer> sessionsOf(AdminClient client, String initiator)
            throws IOException, Failure {
        var found = new ArrayList<Integer>();
        for (JsonNode session : client.get("/v1/sessions").path("sessions")) {
            if (session.path("initiator").asString("").equals(initiator)) {
                found.add(session.path("tsih").asInt(0));
            }
        }
        if (found.isEmpty()) {
            throw new Failure("initiator " + initiator + " has no session;"
                    + " 'lunar sessions' lists the sessions");
        }
        return found;
    }

    /** Ends a session; one of {@code --initiator} may have ended since it was listed. */
    private boolean end(AdminClient client, int tsih) throws IOException {
        try {
            return client.delete("/v1/sessions/" + tsih).path("ended").asBoolean(false);
        } catch (RequestFailedException e) {
            if (e.isNotFound() && !sessions.contains(tsih)) {
                return true;
            }
            throw e;
        }
    }

    private void print(int tsih, boolean ended) {
        if (!isJson()) {
            console().out().println(ended
                    ? "session " + tsih + " has ended"
                    : "session " + tsih + " was asked to log out; commands of it still run");
        }
    }

    private static Map<String, Object> result(int tsih, boolean ended) {
        var result = new LinkedHashMap<String, Object>();
        result.put("tsih", tsih);
        result.put("ended", ended);
        return result;
    }
}
