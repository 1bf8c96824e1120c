package lunar.admin.report;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeStatus;
import lunar.server.ServedPortal;
import lunar.server.StorageServer;
import lunar.server.UnitStatus;
import lunar.target.status.CommandCounts;

/**
 * Reports a server as a whole, and what an operator should look at.
 *
 * @param problems what is wrong, one line each; none if all is well
 * @param tree the report
 */
public record StatusReport(List<String> problems, Map<String, Object> tree) {
    /** The state of a server without problems. */
    public static final String OK = "ok";

    /** The state of a server with problems. */
    public static final String DEGRADED = "degraded";

    /** @param started when the server was started */
    public static StatusReport of(Administered subject, Instant started) {
        StorageServer server = subject.server();
        List<UnitStatus> units = server.unitStatuses();
        List<RunningVolume> volumes = VolumeReport.running(units);
        var problems = new ArrayList<>(problems(units, volumes));
        problems.addAll(subject.problems());
        var tree = new LinkedHashMap<String, Object>();
        tree.put("status", problems.isEmpty() ? OK : DEGRADED);
        tree.put("problems", List.copyOf(problems));
        tree.put("version", subject.version());
        tree.put("pid", ProcessHandle.current().pid());
        tree.put("since", started.toString());
        tree.put("uptimeSeconds", Duration.between(started, Instant.now()).toSeconds());
        tree.put("config", subject.configFile().map(StatusReport::absolute).orElse(null));
        tree.put("state", subject.stateDirectory().map(StatusReport::absolute).orElse(null));
        tree.put("portals", server.servedPortals().stream().map(ServedPortal::toString).toList());
        tree.put("targets", units.stream().map(unit -> unit.unit().iqn()).distinct().count());
        tree.put("luns", units.size());
        tree.put("volumes", volumes.size());
        tree.put("temporaryChanges", LunChangeReport.trees(server));
        tree.put("draining", server.isDraining());
        tree.put("drainedTargets", server.drainedTargets().stream().sorted().toList());
        tree.put("sessions", server.sessionCount());
        tree.put("connections", server.connectionCount());
        tree.put("bufferBytesInUse", server.bufferBytesInUse());
        tree.put("commands", CommandReport.tree(total(units)));
        return new StatusReport(List.copyOf(problems), tree);
    }

    /** A unit has the same counts at each of its LUNs of a target. */
    private record Counted(String target, UUID identity) {}

    private static CommandCounts total(List<UnitStatus> units) {
        var counted = new HashSet<Counted>();
        return units.stream()
                .filter(unit -> counted.add(new Counted(unit.unit().iqn(), unit.identity())))
                .map(UnitStatus::commands).reduce(CommandCounts.NONE, CommandCounts::plus);
    }

    private static String absolute(Path path) {
        return path.toAbsolutePath().normalize().toString();
    }

    private static List<String> problems(List<UnitStatus> units, List<RunningVolume> volumes) {
        var problems = new ArrayList<String>();
        for (RunningVolume volume : volumes) {
            VolumeStatus status = volume.status();
            if (VolumeReport.isUnsound(status)) {
                problems.add(status.title() + " is " + status.health()
                        + (status.badBlocks() > 0
                                ? ", " + status.badBlocks() + " blocks have lost their content"
                                : ""));
            }
        }
        for (UnitStatus unit : units) {
            if (unit.isOutOfSpace()) {
                problems.add("LUN " + unit.unit().lun() + " of " + unit.unit().iqn()
                        + ": the store of " + unit.uri() + " is full");
            }
        }
        return List.copyOf(problems);
    }
}
