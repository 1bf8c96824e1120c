package lunar.bench.compare;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Cores;
import lunar.bench.load.Measurement;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Work;
import lunar.bench.load.Client;
import lunar.bench.load.LoadOrder;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import lunar.bench.compare.Agenda.Entry;

/**
 * Runs measurements of servers and clients: every round runs each workload once in random order, and its pairs in
 * random order. Therefore other load of the machine affects all alike, and ratios within a round are more reliable than
 * single figures.
 *
 * @param servers by the names in subjects
 * @param clients by the names in pairs
 * @param lunBytes used part of each LUN
 * @param before action before each measurement
 */
public record Rig(Map<String, Server> servers, Map<String, Client> clients, long lunBytes,
        Before before,
        PrintStream out) {
    /** Makes things even. */
    @FunctionalInterface
    public interface Before {
        Before NOTHING = () -> {};

        void run() throws BenchException, InterruptedException;
    }

    private static final int RAMP_MS = 300;
    private static final int MS = 1000;

    /**
     * A round that does not count, of a second for each measurement: the memory of the LUNs gets its content, and what
     * compiles as it runs gets compiled.
     */
    public void warmUp(Agenda agenda) throws BenchException, InterruptedException {
        out.println("warming up");
        for (Entry entry : agenda.entries()) {
            for (Pair pair : entry.pairs()) {
                Measurement _ = measure(0, entry.work(), pair, 1);
            }
        }
    }

    public List<Measurement> run(Agenda agenda, Settings settings)
            throws BenchException, InterruptedException {
        var random = new Random(settings.seed());
        var measured = new ArrayList<Measurement>();
        for (int round = 1; round <= settings.rounds(); round++) {
            for (Entry entry : shuffled(agenda.entries(), random)) {
                for (Pair pair : shuffled(entry.pairs(), random)) {
                    Measurement one = measure(round, entry.work(), pair, settings.seconds());
                    measured.add(one);
                    out.println(line(one));
                }
            }
        }
        return measured;
    }

    private static <T> List<T> shuffled(List<T> all, Random random) {
        var order = new ArrayList<>(all);
        Collections.shuffle(order, random);
        return order;
    }

    Measurement measure(int round, Work work, Pair pair, int seconds)
            throws BenchException, InterruptedException {
        Server server = Objects.requireNonNull(servers.get(pair.subject().server()));
        Client client = Objects.requireNonNull(clients.get(pair.client()));
        before.run();
        var order = new LoadOrder(server.uri(pair.subject().lun()), lunBytes, work,
                pair.sessions(), pair.terms(), RAMP_MS, seconds * MS);
        if (!work.oneCore()) {
            return Measurement.of(round, work, pair,
                    client.run(order, server.pid(), Optional.empty()), load());
        }
        Cores.bind(server.pid(), Cores.first());
        try {
            return Measurement.of(round, work, pair,
                    client.run(order, server.pid(), Optional.of(Cores.first())), load());
        } finally {
            Cores.bind(server.pid(), Cores.ALL);
        }
    }

    static String line(Measurement one) {
        return String.format(Locale.ROOT,
                "%2d  %-38s %-36s %9.0f/s %7.2f us server %7.2f us client  others %.1f cores",
                one.round(), one.work(), one.pair(), one.iops(), one.serverUs(), one.clientUs(),
                one.otherCores());
    }

    private static double load() throws BenchException {
        return Double.parseDouble(Processes.read(Path.of("/proc/loadavg")).split(" ", -1)[0]);
    }
}
