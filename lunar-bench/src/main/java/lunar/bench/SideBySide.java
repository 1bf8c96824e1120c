package lunar.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import lunar.bench.Measurement.Subject;

/**
 * Lunar's target and tgtd, each read by Lunar's initiator and libiscsi's, in one interleaved run. In every round
 * each work comes once, in a random order; within it, all pairs of a LUN and a client, in a random order too. So what
 * else goes on at the machine meets all alike, and the ratio of two figures of one round is worth more than either.
 */
public final class SideBySide {
    private static final int WARM_UP_SECONDS = 3;
    private static final int GRACE_SECONDS = 60;
    private static final int TOOL_SECONDS = 120;
    /** At both ends of a measurement a client may still log in, or out already. */
    private static final double MARGIN_SECONDS = 0.3;

    private final Settings settings;
    private final PrintStream out;
    private final Server tgtd;
    private final Server lunar;
    private final String allCores;

    private SideBySide(Settings settings, PrintStream out, Server tgtd, Server lunar)
            throws BenchException {
        this.settings = settings;
        this.out = out;
        this.tgtd = tgtd;
        this.lunar = lunar;
        allCores = Processes.read(Path.of("/proc/self/status")).lines()
                .filter(line -> line.startsWith("Cpus_allowed_list:")).findFirst().orElse(":0")
                .split(":", 2)[1].strip();
    }

    /** Measures, and writes the results to the terminal, to RESULT.json and to RESULT.md. */
    public static void main(String[] args) throws InterruptedException {
        Bench.main("bench", args, (given, out) -> run(Settings.parse(given), out));
    }

    private static void run(Settings settings, PrintStream out)
            throws BenchException, IOException, InterruptedException {
        Files.createDirectories(settings.directory());
        out.println("preparing " + BackingFile.BYTES / (1 << 20) + " MiB of random content");
        Path backing = BackingFile.prepare(settings.directory(), settings.seed());
        List<Measurement> measured;
        try (var tgtd = Server.tgtd(settings, backing);
                var lunar = Server.lunar(settings, backing, BackingFile.BYTES)) {
            var bench = new SideBySide(settings, out, tgtd, lunar);
            bench.warmUp();
            measured = bench.rounds();
        }
        var report = new Report(new Results(settings,
                Machine.describe(settings.directory(), settings.commit())), measured);
        Files.writeString(settings.directory().resolve("RESULT.json"), report.json());
        Files.writeString(settings.directory().resolve("RESULT.md"), report.markdown());
        out.println(report.table());
        out.println("written: RESULT.json and RESULT.md in " + settings.directory());
    }

    /** The memory gets its content, and a server that compiles as it runs gets compiled. */
    private void warmUp() throws BenchException, InterruptedException {
        Processes.run(log("copy"), TOOL_SECONDS,
                List.of(settings.lunar().toString(), "copy", lunar.uri(Subject.LUNAR_FILE.lun()),
                        lunar.uri(Subject.LUNAR_RAM.lun())));
        out.println("warming up the servers");
        for (Work work : Work.ALL) {
            for (Subject subject : Subject.values()) {
                List<String> command = Client.ISCSI_PERF.command(settings.lunar(), uri(subject),
                        work, WARM_UP_SECONDS);
                Processes.run(log("warm-up"), GRACE_SECONDS, command);
            }
        }
    }

    private List<Measurement> rounds() throws BenchException, InterruptedException {
        var random = new Random(settings.seed());
        var measured = new ArrayList<Measurement>();
        for (int round = 1; round <= settings.rounds(); round++) {
            var works = new ArrayList<>(Work.ALL);
            Collections.shuffle(works, random);
            for (Work work : works) {
                var pairs = new ArrayList<Pair>();
                for (Subject subject : Subject.values()) {
                    for (Client client : Client.values()) {
                        pairs.add(new Pair(subject, client));
                    }
                }
                Collections.shuffle(pairs, random);
                for (Pair pair : pairs) {
                    Measurement one = measure(round, work, pair.subject, pair.client);
                    measured.add(one);
                    out.println(Report.line(one));
                }
            }
        }
        return measured;
    }

    private record Pair(Subject subject, Client client) {}

    private Measurement measure(int round, Work work, Subject subject, Client client)
            throws BenchException, InterruptedException {
        Server server = subject.isLunar() ? lunar : tgtd;
        var command = new ArrayList<String>();
        if (work.oneCore()) {
            bind(server, firstCore());
            command.addAll(List.of("taskset", "-c", firstCore()));
        }
        command.addAll(client.command(settings.lunar(), uri(subject), work, settings.seconds()));
        try {
            Path log = log("client");
            Process process = Processes.start(log, command);
            var sampler = new CpuSampler(server.pid(), process.pid());
            String output;
            try (sampler) {
                output = Processes.finish(process, log, settings.seconds() + GRACE_SECONDS,
                        command);
            }
            Client.Outcome outcome = client.parse(output);
            CpuSampler.Cores cores = sampler.window(
                    settings.seconds() - 2 * MARGIN_SECONDS, MARGIN_SECONDS);
            double usPerOperation = 1e6 / outcome.iops();
            return new Measurement(round, work, subject, client, outcome,
                    cores.server() * usPerOperation, cores.client() * usPerOperation,
                    cores.others(), load());
        } finally {
            if (work.oneCore()) {
                bind(server, allCores);
            }
        }
    }

    private void bind(Server server, String cores) throws BenchException, InterruptedException {
        Processes.run(log("taskset"), TOOL_SECONDS,
                List.of("taskset", "-a", "-c", "-p", cores, "" + server.pid()));
    }

    private String firstCore() { return allCores.split("[,-]", 2)[0]; }

    private static double load() throws BenchException {
        return Double.parseDouble(Processes.read(Path.of("/proc/loadavg")).split(" ", -1)[0]);
    }

    private String uri(Subject subject) {
        return (subject.isLunar() ? lunar : tgtd).uri(subject.lun());
    }

    private Path log(String name) { return settings.directory().resolve(name + ".log"); }
}
