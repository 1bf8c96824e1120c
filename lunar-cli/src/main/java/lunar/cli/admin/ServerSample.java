package lunar.cli.admin;

import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
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
 * @param unitCommands reports of commands to the unit at each LUN, by LUN
 * @param units the unit at each LUN; a unit at several LUNs of a target has the same report at each
 * @param sessionCommands reports of commands, by session
 */
record ServerSample(long nanos, JsonNode status, Map<String, JsonNode> unitCommands,
        Map<String, String> units, Map<String, JsonNode> sessionCommands, JsonNode volumes) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final String COMMANDS = "commands";

    static ServerSample take(AdminClient client) throws IOException {
        var commands = new LinkedHashMap<String, JsonNode>();
        var units = new LinkedHashMap<String, String>();
        for (JsonNode unit : client.get("/v1/luns").path("luns")) {
            String target = unit.path("target").asString("");
            String lun = target + " " + unit.path("lun").asInt(0);
            commands.put(lun, unit.path(COMMANDS));
            units.put(lun, target + " " + unit.path("identity").asString(""));
        }
        long nanos = System.nanoTime();
        var sessions = new LinkedHashMap<String, JsonNode>();
        for (JsonNode session : client.get("/v1/sessions").path("sessions")) {
            sessions.put(session.path("tsih").asInt(0) + " "
                    + session.path("initiator").asString(""), session.path(COMMANDS));
        }
        return new ServerSample(nanos, client.get("/v1/status"), commands, units, sessions,
                client.get("/v1/volumes").path("volumes"));
    }

    /** Returns the rates of the units at each LUN since an earlier sample, in the order of the server. */
    List<Rates> luns(ServerSample before) {
        var then = new HashMap<String, JsonNode>();
        Map<String, JsonNode> earlier = before.byUnit();
        units.forEach((lun, unit) -> then.put(lun,
                earlier.getOrDefault(unit, MissingNode.getInstance())));
        return rates(unitCommands, then, before);
    }

    /** Returns the rates of all units since an earlier sample, each once. */
    List<Rates> distinctUnits(ServerSample before) {
        return rates(byUnit(), before.byUnit(), before);
    }

    private Map<String, JsonNode> byUnit() {
        var commands = new LinkedHashMap<String, JsonNode>();
        units.forEach((lun, unit) -> commands.put(unit,
                unitCommands.getOrDefault(lun, MissingNode.getInstance())));
        return commands;
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
