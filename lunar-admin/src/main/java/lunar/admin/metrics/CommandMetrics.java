package lunar.admin.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.EnumSet;
import java.util.Set;
import lunar.admin.report.CommandReport;
import lunar.scsi.SenseKey;
import lunar.target.status.CommandCounts;

/** Metrics of commands, of a unit or of a session. */
final class CommandMetrics {
    /** Sense keys that are reported even if no command has ended with them, so that rates see the first one. */
    private static final Set<SenseKey> USUAL = EnumSet.of(SenseKey.NOT_READY,
            SenseKey.MEDIUM_ERROR, SenseKey.HARDWARE_ERROR, SenseKey.ILLEGAL_REQUEST,
            SenseKey.UNIT_ATTENTION, SenseKey.DATA_PROTECT, SenseKey.ABORTED_COMMAND,
            SenseKey.MISCOMPARE);
    private static final String OPERATION = "operation";

    private CommandMetrics() {}

    /**
     * Adds the metrics of a unit or a session.
     *
     * @param prefix of the names
     */
    static void add(Families to, String prefix, Labels labels, CommandCounts counts) {
        to.gauge(prefix + "commands_in_flight", "Commands that have arrived and not ended.", labels,
                counts.inFlight());
        String commands = "Commands that ended with status GOOD.";
        to.counter(prefix + "commands", commands, labels.add(OPERATION, "read"),
                counts.reads().count());
        to.counter(prefix + "commands", commands, labels.add(OPERATION, "write"),
                counts.writes().count());
        to.counter(prefix + "commands", commands, labels.add(OPERATION, "other"),
                counts.others().count());
        to.counter(prefix + "read_bytes", "Data sent to initiators by successful commands.", labels,
                counts.readBytes());
        to.counter(prefix + "written_bytes",
                "Data received from initiators by successful commands.", labels,
                counts.writtenBytes());
        to.counter(prefix + "aborted_commands", "Commands that were aborted.", labels,
                counts.aborted());
        to.counter(prefix + "busy_commands", "Commands that ended with BUSY or TASK SET FULL.",
                labels, counts.busy());
        to.counter(prefix + "delayed_commands", "Commands that were delayed by a limit.", labels,
                counts.delayed());
        to.counter(prefix + "reservation_conflicts",
                "Commands that ended with RESERVATION CONFLICT.", labels, counts.conflicts());
        Set<SenseKey> keys = EnumSet.copyOf(USUAL);
        keys.addAll(counts.conditions().keySet());
        for (SenseKey key : keys) {
            to.counter(prefix + "check_conditions",
                    "Commands that ended with CHECK CONDITION, by sense key.",
                    labels.add("sense_key", CommandReport.word(key)),
                    counts.conditions().getOrDefault(key, 0L));
        }
    }

    /** Adds the histograms of a unit. */
    static void addDurations(Families to, String prefix, Labels labels, CommandCounts counts) {
        String name = prefix + "command_duration_seconds";
        String help = "Time from the arrival of a successful command to its response.";
        to.durations(name, help, labels.add(OPERATION, "read"), counts.reads());
        to.durations(name, help, labels.add(OPERATION, "write"), counts.writes());
        to.durations(name, help, labels.add(OPERATION, "other"), counts.others());
    }
}
