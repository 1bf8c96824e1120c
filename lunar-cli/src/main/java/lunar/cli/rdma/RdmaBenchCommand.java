package lunar.cli.rdma;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.SizeConverter;
import lunar.rdma.ConnectionException;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaException;
import lunar.rdma.probe.Probe;
import lunar.rdma.probe.Variant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar rdma bench}: measures round trips and bandwidth by message length and variant. */
@Command(name = "bench",
        description = "Measure round-trip time and bandwidth by message length, for each variant (see 'lunar rdma "
                + "ping'); with a 'lunar rdma respond', or between two threads of this process.",
        footer = {
                "", "'scripts/bench javia' compares with a C program.", "", "Examples:",
                "  lunar rdma bench --device libfabric:shm",
                "  lunar rdma bench 192.0.2.7:3261 --device verbs --sizes 4k,64k --json"})
final class RdmaBenchCommand extends DeviceCommand {
    @Parameters(arity = "0..1", paramLabel = "HOST:PORT", defaultValue = "",
            description = "Address of a 'lunar rdma respond'. Default: a thread of this process.")
    private String address = "";

    @Option(names = "--sizes", paramLabel = "SIZE,...", split = ",",
            converter = SizeConverter.class, defaultValue = "4,1k,4k,64k,1m",
            description = "Message lengths. Default: ${DEFAULT-VALUE}.")
    private List<Long> sizes = new ArrayList<>();

    @Option(names = "--bytes", paramLabel = "SIZE", converter = SizeConverter.class,
            defaultValue = "256m",
            description = "Amount of data to send for each bandwidth, in at most 100,000 messages. Default: "
                    + "${DEFAULT-VALUE}.")
    private long totalBytes;

    @Option(names = "--count", paramLabel = "N", defaultValue = "5000",
            description = "Number of round trips for each round-trip time. Default: ${DEFAULT-VALUE}.")
    private int count;

    @Mixin
    private final RdmaOptions options = new RdmaOptions();

    /** Result for a variant and a message length. */
    private record Row(Variant variant, long messageBytes, double microseconds,
            double megabytesPerSecond) {
        Map<String, Object> tree() {
            var tree = new LinkedHashMap<String, Object>();
            tree.put("variant", variant.text());
            tree.put("messageBytes", messageBytes);
            tree.put("roundTripMicroseconds", microseconds);
            tree.put("megabytesPerSecond", megabytesPerSecond);
            return tree;
        }

        String line() {
            return String.format(Locale.ROOT, "%-11s %9d %14.2f %10.1f", variant.text(),
                    messageBytes, microseconds, megabytesPerSecond);
        }
    }

    RdmaBenchCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logErrorsOnly();
        for (long size : sizes) {
            if (size < 1 || size > Probe.MAX_MESSAGE_BYTES) {
                throw wrongUsage("--sizes must be 1 to " + Probe.MAX_MESSAGE_BYTES + ", not "
                        + size);
            }
        }
        if (count < 1 || totalBytes < 1) {
            throw wrongUsage("--count and --bytes must be above 0");
        }
        RdmaDevice device = options.device();
        var rows = new ArrayList<Row>();
        if (!options.isJson()) {
            console().out().println(device.info().name() + ": " + device.info().description());
            console().out().println("variant       message  round trip us       MB/s");
        }
        try (var session = new RdmaSession(device, address)) {
            for (long size : sizes) {
                for (Variant variant : Variant.values()) {
                    Row row = measure(session.probe(), variant, (int) size);
                    rows.add(row);
                    if (!options.isJson()) {
                        console().out().println(row.line());
                    }
                }
            }
        } catch (ConnectionException e) {
            throw RdmaSession.failure(e);
        }
        if (options.isJson()) {
            tell(true, Map.of("device", device.info().name(), "results",
                    rows.stream().map(Row::tree).toList()), "");
        }
        return 0;
    }

    private Row measure(Probe probe, Variant variant, int size) throws RdmaException {
        long nanos = probe.roundTrips(variant, size, Math.max(1, count / 10), count);
        int messages = Probe.messages(Math.clamp(totalBytes / size, 16, 100_000));
        long streamed = probe.stream(variant, size, messages / 10, messages);
        return new Row(variant, size, nanos / 1e3 / count, 1e3 * size * messages / streamed);
    }
}
