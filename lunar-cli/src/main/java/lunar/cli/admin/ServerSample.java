package lunar.cli.admin;

import java.io.IOException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.admin.client.AdminClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * What a server reports at one moment.
 *
 * @param nanos when, by {@link System#nanoTime}
 * @param unitCommands reports of commands, by unit
 * @param sessionCommands reports of commands, by session
 */
record ServerSample(long nanos, JsonNode status, Map<String, JsonNode> unitCommands,
        Map<String, JsonNode> sessionCommands, JsonNode volumes) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final String COMMANDS = "commands";

    static ServerSample take(AdminClient client) throws IOException {
        var units = new LinkedHashMap<String, JsonNode>();
        for (JsonNode unit : client.get("/v1/luns").path("luns")) {
            units.put(unit.path("target").asString("") + " " + unit.path("lun").asInt(0),
                    unit.path(COMMANDS));
        }
        long nanos = System.nanoTime();
        var sessions = new LinkedHashMap<String, JsonNode>();
        for (JsonNode session : client.get("/v1/sessions").path("sessions")) {
            sessions.put(session.path("tsih").asInt(0) + " "
                    + session.path("initiator").asString(""), session.path(COMMANDS));
        }
        return new ServerSample(nanos, client.get("/v1/status"), units, sessions,
                client.get("/v1/volumes").path("volumes"));
    }

    /** Returns the rates of the units since an earlier sample, in the order of the server. */
    List<Rates> luns(ServerSample before) {
        return rates(unitCommands, before.unitCommands, before);
    }

    /** Returns the rates of the sessions since an earlier sample, the busiest first. */
    List<Rates> sessions(ServerSample before) {
        return rates(sessionCommands, before.sessionCommands, before).stream()
                .sorted(Comparator.comparingDouble(Rates::operations).reversed()).toList();
    }

    private List<Rates> rates(Map<String, JsonNode> now, Map<String, JsonNode> then,
            ServerSample before) {
        double seconds = Math.max(1, nanos - before.nanos) / NANOS_PER_SECOND;
        return now.entrySet().stream().map(entry -> Rates.between(entry.getKey(),
                then.getOrDefault(entry.getKey(), MissingNode.getInstance()), entry.getValue(),
                seconds)).toList();
    }
}
