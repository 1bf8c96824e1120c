package lunar.bench.osd;

import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.bench.harness.Spread;

/**
 * Latencies of the commands of Table 1 in one round.
 *
 * @param server label of the server
 * @param us mean, standard deviation and median by command, in microseconds
 */
record OsdLatencies(String server, Map<OsdCommand, Moments> us) {
    private static final double NANOS_PER_US = 1e3;
    private static final int TURN = 50;
    private static final List<OsdCommand> ORDER = List.of(OsdCommand.PING, OsdCommand.CREATE,
            OsdCommand.SETATTR, OsdCommand.GETATTR, OsdCommand.REMOVE);
    private static final Moments NONE = new Moments(0, 0, 0);

    /** Mean, standard deviation and median. */
    record Moments(double mean, double deviation, double median) {
        static Moments of(double[] values) {
            double mean = Arrays.stream(values).average().orElse(0);
            double variance = Arrays.stream(values).map(each -> (each - mean) * (each - mean))
                    .average().orElse(0);
            double median = Spread.of(Arrays.stream(values).boxed().toList()).median();
            return new Moments(mean, Math.sqrt(variance), median);
        }
    }

    /** Creates objects, changes and removes them; the commands take turns. */
    static OsdLatencies measure(String server, OsdClient client, int count, long firstObject)
            throws IOException {
        var took = new LinkedHashMap<OsdCommand, double[]>();
        ORDER.forEach(command -> took.put(command, new double[count]));
        for (int from = 0; from < count; from += TURN) {
            for (Map.Entry<OsdCommand, double[]> each : took.entrySet()) {
                for (int i = from; i < Math.min(count, from + TURN); i++) {
                    long start = System.nanoTime();
                    client.execute(each.getKey(), firstObject + i);
                    each.getValue()[i] = (System.nanoTime() - start) / NANOS_PER_US;
                }
            }
        }
        var us = new EnumMap<OsdCommand, Moments>(OsdCommand.class);
        took.forEach((command, values) -> us.put(command, Moments.of(values)));
        return new OsdLatencies(server, us);
    }

    /** Returns the mean of a command. */
    double mean(OsdCommand command) {
        return us.getOrDefault(command, NONE).mean;
    }

    double deviation(OsdCommand command) { return us.getOrDefault(command, NONE).deviation; }

    double median(OsdCommand command) { return us.getOrDefault(command, NONE).median; }

    /** Returns the latency of a command as a multiple of ping in the same round. */
    double multiple(OsdCommand command) {
        return mean(command) / mean(OsdCommand.PING);
    }
}
