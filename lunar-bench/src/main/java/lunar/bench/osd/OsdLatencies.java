package lunar.bench.osd;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Latencies of the commands of Table 1 in one round.
 *
 * @param server label of the server
 * @param us mean and standard deviation by command, in microseconds
 */
record OsdLatencies(String server, Map<OsdCommand, Moments> us) {
    private static final double NANOS_PER_US = 1e3;

    /** Mean and standard deviation. */
    record Moments(double mean, double deviation) {}

    /** Creates objects, changes and removes them, and measures each command. */
    static OsdLatencies measure(String server, OsdClient client, int count, long firstObject)
            throws IOException {
        var us = new EnumMap<OsdCommand, Moments>(OsdCommand.class);
        for (OsdCommand command : List.of(OsdCommand.PING, OsdCommand.CREATE, OsdCommand.SETATTR,
                OsdCommand.GETATTR, OsdCommand.REMOVE)) {
            double sum = 0;
            double squares = 0;
            for (int i = 0; i < count; i++) {
                long start = System.nanoTime();
                client.execute(command, firstObject + i);
                double took = (System.nanoTime() - start) / NANOS_PER_US;
                sum += took;
                squares += took * took;
            }
            double mean = sum / count;
            us.put(command,
                    new Moments(mean, Math.sqrt(Math.max(0, squares / count - mean * mean))));
        }
        return new OsdLatencies(server, us);
    }

    /** Returns the mean of a command. */
    double mean(OsdCommand command) {
        return us.getOrDefault(command, new Moments(0, 0)).mean;
    }

    double deviation(OsdCommand command) {
        return us.getOrDefault(command, new Moments(0, 0)).deviation;
    }

    /** Returns the latency of a command as a multiple of ping in the same round. */
    double multiple(OsdCommand command) {
        return mean(command) / mean(OsdCommand.PING);
    }
}
