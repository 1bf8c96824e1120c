package lunar.cli.admin;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import lunar.admin.client.AdminClient;
import lunar.block.Size;
import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.command.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code lunar top}: rates and latencies of a running server, refreshed. */
@Command(name = "top",
        description = "Show operations, bytes and latencies per second of a running server, by LUN and session, and"
                + " the state of its volumes. Refreshed until Ctrl-C on a terminal.",
        footer = {"", "Examples:", "  lunar top", "  lunar top --once --interval 5",
                "  lunar top --json"})
public final class TopCommand extends AdminCommand {
    private static final String CLEAR = "\u001b[H\u001b[2J";
    private static final String BOLD = "\u001b[1m";
    private static final String PLAIN = "\u001b[0m";
    private static final int MAX_SESSIONS = 15;

    @Option(names = "--interval", paramLabel = "SECONDS",
            description = "Time over which rates are measured. Default: 1.")
    private int intervalSeconds = 1;

    @Option(names = "--once", description = "Measure once and end; for scripts. --json implies it.")
    private boolean once;

    public TopCommand(Console console) { super(console); }

    @Override
    int execute(AdminClient client) throws IOException, Failure {
        if (intervalSeconds < 1) {
            throw wrongUsage("--interval must be at least 1 second");
        }
        boolean repeats = !once && !isJson() && console().isTerminal();
        if (!once && !isJson() && !repeats) {
            throw wrongUsage("the output is no terminal; specify --once or --json");
        }
        ServerSample before = ServerSample.take(client);
        do {
            try {
                Thread.sleep(Duration.ofSeconds(intervalSeconds));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return 0;
            }
            ServerSample now = ServerSample.take(client);
            show(now, before, repeats);
            before = now;
        } while (repeats);
        return 0;
    }

    private void show(ServerSample now, ServerSample before, boolean redraws) {
        List<Rates> luns = now.luns(before);
        List<Rates> sessions = now.sessions(before);
        if (isJson()) {
            var tree = new LinkedHashMap<String, Object>();
            tree.put("status", now.status().path("status"));
            tree.put("seconds", intervalSeconds);
            tree.put("luns", luns.stream().map(Rates::tree).toList());
            tree.put("sessions", sessions.stream().map(Rates::tree).toList());
            tree.put("volumes", now.volumes());
            console().out().println(Json.text(tree));
            return;
        }
        var lines = new ArrayList<String>();
        lines.add(title(now, now.distinctUnits(before)));
        now.status().path("problems")
                .forEach(problem -> lines.add("problem: " + problem.asString("")));
        lines.add("");
        addTable(lines, table("LUN", luns, luns.size()), redraws);
        lines.add("");
        addTable(lines, table("SESSION", sessions, MAX_SESSIONS), redraws);
        if (sessions.size() > MAX_SESSIONS) {
            lines.add("and " + (sessions.size() - MAX_SESSIONS) + " more");
        }
        if (!now.volumes().isEmpty()) {
            lines.add("");
            now.volumes().forEach(volume -> lines.add(volume(volume)));
        }
        PrintWriter out = console().out();
        if (redraws) {
            out.print(CLEAR);
        }
        lines.forEach(out::println);
        out.flush();
    }

    private static void addTable(List<String> lines, Table table, boolean isBold) {
        List<String> all = table.lines();
        lines.add(isBold ? BOLD + all.getFirst() + PLAIN : all.getFirst());
        lines.addAll(all.subList(1, all.size()));
    }

    private static String title(ServerSample now, List<Rates> units) {
        return "lunar " + now.status().path("version").asString("") + ", process "
                + now.status().path("pid").asLong(0) + ": "
                + now.status().path("status").asString("") + ", "
                + now.status().path("sessions").asLong(0) + " sessions, "
                + perSecond(units.stream().mapToDouble(Rates::operations).sum()) + " operations/s, "
                + bytes(units.stream().mapToDouble(Rates::readBytes).sum()) + "/s read, "
                + bytes(units.stream().mapToDouble(Rates::writtenBytes).sum()) + "/s written";
    }

    private static Table table(String what, List<Rates> rates, int most) {
        var table = new Table(what, "READS/S", "WRITES/S", "READ/S", "WRITTEN/S", "READ MS",
                "99%", "WRITE MS", "99%", "IN FLIGHT", "ERRORS/S");
        for (Rates one : rates.subList(0, Math.min(most, rates.size()))) {
            table.add(one.name(), perSecond(one.reads()), perSecond(one.writes()),
                    bytes(one.readBytes()), bytes(one.writtenBytes()), ms(one.readMeanMs()),
                    ms(one.readMs99()), ms(one.writeMeanMs()), ms(one.writeMs99()), one.inFlight(),
                    perSecond(one.errors()));
        }
        return table;
    }

    private static String volume(JsonNode volume) {
        var line = new StringBuilder(volume.path("volume").asString("") + ": "
                + volume.path("state").asString(""));
        for (JsonNode scan : volume.path("walks")) {
            line.append(", ").append(scan.path("kind").asString("")).append(' ')
                    .append(scan.path("percent").asDouble(0)).append("%, ")
                    .append(Size.format(scan.path("bytesPerSecond").asLong(0))).append("/s");
            if (scan.path("secondsLeft").isNumber()) {
                line.append(", ").append(StatusCommand.age(
                        Duration.ofSeconds(scan.path("secondsLeft").asLong(0)))).append(" left");
            }
        }
        return line.toString();
    }

    private static String perSecond(double rate) { return String.valueOf(Math.round(rate)); }

    private static String bytes(double rate) { return Size.format(Math.round(rate)); }

    private static String ms(double ms) { return String.format(Locale.ROOT, "%.3f", ms); }
}
