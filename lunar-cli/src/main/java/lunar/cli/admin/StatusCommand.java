package lunar.cli.admin;

import java.io.IOException;
import java.time.Duration;
import lunar.admin.client.AdminClient;
import lunar.admin.report.StatusReport;
import lunar.block.Size;
import lunar.cli.command.Console;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code lunar status}: a running server as a whole. */
@Command(name = "status",
        description = "Show what a running server does, and what is wrong with it.",
        footer = {"", "Examples:", "  lunar status",
                "  lunar status --config lunar.toml --json"})
public final class StatusCommand extends AdminCommand {
    private static final int DEGRADED = 3;

    public StatusCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException {
        JsonNode status = client.get("/v1/status");
        if (!printsJson(status)) {
            show(status);
        }
        return status.path("status").asString("").equals(StatusReport.OK) ? 0 : DEGRADED;
    }

    private void show(JsonNode status) {
        var out = console().out();
        out.println("lunar " + status.path("version").asString("") + ", process "
                + status.path("pid").asLong(0) + ", up "
                + age(Duration.ofSeconds(status.path("uptimeSeconds").asLong(0))) + ": "
                + status.path("status").asString(""));
        status.path("problems").forEach(
                problem -> out.println("problem:  " + problem.asString("")));
        text(status, "config", "config:   ");
        text(status, "state", "state:    ");
        for (JsonNode portal : status.path("portals")) {
            out.println("portal:   " + portal.asString(""));
        }
        out.println("targets:  " + status.path("targets").asInt(0) + " with "
                + status.path("luns").asInt(0) + " LUNs, " + status.path("volumes").asInt(0)
                + " volumes");
        out.println("sessions: " + status.path("sessions").asInt(0) + " with "
                + status.path("connections").asInt(0) + " connections");
        if (status.path("draining").asBoolean(false)) {
            out.println("drained:  the whole server accepts no logins");
        }
        status.path("drainedTargets").forEach(target -> out
                .println("drained:  " + target.asString("") + " accepts no logins"));
        status.path("temporaryChanges").forEach(change -> out
                .println(LunsCommand.TEMPORARY + change.path("text").asString("")));
        JsonNode commands = status.path("commands");
        out.println("commands: " + commands.path("reads").asLong(0) + " reads ("
                + Size.format(commands.path("readBytes").asLong(0)) + "), "
                + commands.path("writes").asLong(0) + " writes ("
                + Size.format(commands.path("writtenBytes").asLong(0)) + "), "
                + commands.path("inFlight").asLong(0) + " in flight");
    }

    private void text(JsonNode status, String key, String title) {
        String value = status.path(key).asString("");
        if (!value.isEmpty()) {
            console().out().println(title + value);
        }
    }

    /** Returns a duration in its two largest units. */
    static String age(Duration age) {
        if (age.toDays() > 0) {
            return age.toDays() + " d " + age.toHoursPart() + " h";
        }
        if (age.toHours() > 0) {
            return age.toHours() + " h " + age.toMinutesPart() + " min";
        }
        return age.toMinutes() > 0
                ? age.toMinutes() + " min " + age.toSecondsPart() + " s"
                : age.toSeconds() + " s";
    }
}
