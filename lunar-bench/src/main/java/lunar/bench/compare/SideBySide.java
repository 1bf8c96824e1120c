package lunar.bench.compare;

import lunar.bench.load.ModelServer;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.Bench;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Machine;
import lunar.bench.load.Measurement;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Results;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.load.AgentClient;
import lunar.bench.load.Client;
import lunar.bench.load.IscsiPerf;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.bench.compare.Goal.Judged;
import lunar.bench.harness.Server.TgtdLun;

/**
 * Compares Lunar's target and tgtd, each with Lunar's initiator and libiscsi, and the model loop, in one interleaved
 * run; then measures the steady state, and prints the table of goals.
 */
public final class SideBySide {
    private static final int COPY_SECONDS = 120;

    private SideBySide() {}

    /** Measures, and writes the results to the terminal, to RESULT.json and to RESULT.md. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("bench", args, (given, out) -> run(Settings.parse(given), out));
    }

    private static void run(Settings settings, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Path directory = settings.directory();
        Files.createDirectories(directory);
        Agenda agenda = Agenda.ALL.choose(settings.works(), settings.pairs());
        List<Measurement> measured = agenda.entries().isEmpty()
                ? List.of()
                : measure(settings, agenda, out);
        List<Judged> steady = settings.steadySeconds() == 0
                ? List.of()
                : Steady.run(settings, settings.steadySeconds(), out).stream()
                        .flatMap(one -> one.judged().stream()).toList();
        var report = new Report(new Results(settings,
                Machine.describe(directory, settings.commit())), agenda, measured, steady);
        Files.writeString(directory.resolve("RESULT.json"), report.json());
        Files.writeString(directory.resolve("RESULT.md"), report.markdown());
        out.println(report.table());
        out.println("written: RESULT.json and RESULT.md in " + directory);
    }

    private static List<Measurement> measure(Settings settings, Agenda agenda, PrintStream out)
            throws BenchException, InterruptedException {
        Path directory = settings.directory();
        out.println("preparing " + BackingFile.BYTES / (1 << 20) + " MiB of random content");
        Path backing = BackingFile.prepare(directory, settings.seed());
        Path sent = BackingFile.prepare(directory.resolve("sent.img"), BackingFile.BYTES,
                settings.seed());
        var clients = new HashMap<String, Client>();
        try (var tgtd = Server.tgtd(directory, List.of(new TgtdLun(backing, "")),
                Map.of());
                var lunar = Server.lunar(settings.lunar(), directory.resolve("lunar.log"),
                        List.of(), List.of("file:" + backing, "ram:" + BackingFile.BYTES,
                                "file:" + sent + "?io=sendfile"));
                var model = Server.of(ModelServer.class, directory.resolve("model.log"))) {
            clients.put(Agenda.ISCSI_PERF, new IscsiPerf(directory.resolve("iscsi-perf.log")));
            for (var agent : Map.of(Agenda.INITIATOR, "lunar", Agenda.LIBISCSI, "libiscsi",
                    Agenda.LOOP, "model").entrySet()) {
                clients.put(agent.getKey(), new AgentClient(agent.getValue(),
                        directory.resolve(agent.getValue() + "-client.log")));
            }
            var rig = new Rig(Map.of(Agenda.TGTD, tgtd, Agenda.LUNAR, lunar, Agenda.MODEL, model),
                    clients, BackingFile.BYTES,
                    () -> BackingFile.writeBack(directory.resolve("sync.log")), out);
            // Memory with content, so that reads do not return unallocated pages.
            String _ = Processes.run(directory.resolve("copy.log"), COPY_SECONDS,
                    List.of(settings.lunar().toString(), "copy", lunar.uri(Agenda.FILE.lun()),
                            lunar.uri(Agenda.RAM.lun())));
            rig.warmUp(agenda);
            return rig.run(agenda, settings);
        } finally {
            clients.values().forEach(Client::close);
        }
    }
}
