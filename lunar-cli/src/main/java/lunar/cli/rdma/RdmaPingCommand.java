package lunar.cli.rdma;

import java.util.LinkedHashMap;
import java.util.Locale;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.SizeConverter;
import lunar.rdma.ConnectionException;
import lunar.rdma.RdmaDevice;
import lunar.rdma.probe.Probe;
import lunar.rdma.probe.Variant;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar rdma ping}: measures the round-trip time of messages. */
@Command(name = "ping",
        description = "Measure the round-trip time of messages to a 'lunar rdma respond' or, without an address, "
                + "between two threads of this process. Both ends poll.",
        footer = {
                "", "Examples:", "  lunar rdma ping --device libfabric:shm",
                "  lunar rdma ping 192.0.2.7:3261 --device verbs --size 4k --json"})
final class RdmaPingCommand extends DeviceCommand {
    private static final int MAX_COUNT = 10_000_000;
    private static final long HIGHEST_NS = 60_000_000_000L;

    @Parameters(arity = "0..1", paramLabel = "HOST:PORT", defaultValue = "",
            description = "Address of a 'lunar rdma respond'. Default: a thread of this process.")
    private String address = "";

    @Option(names = "--count", paramLabel = "N", defaultValue = "10000",
            description = "Number of round trips to measure, after a tenth as many to warm up. Default: "
                    + "${DEFAULT-VALUE}.")
    private int count;

    @Option(names = "--size", paramLabel = "SIZE", converter = SizeConverter.class,
            defaultValue = "4", description = "Message length. Default: ${DEFAULT-VALUE}.")
    private long messageBytes;

    @Option(names = "--variant", paramLabel = "NAME", defaultValue = "zero-copy",
            description = "How messages get from the Java heap to registered memory and back: copy, copy-alloc, "
                    + "zero-copy or pin. "
                    + "Default: ${DEFAULT-VALUE}.")
    private String variantName = "";

    @Mixin
    private final RdmaOptions options = new RdmaOptions();

    RdmaPingCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logErrorsOnly();
        if (count < 1 || count > MAX_COUNT) {
            throw wrongUsage("--count must be 1 to " + MAX_COUNT + ", not " + count);
        }
        if (messageBytes < 1 || messageBytes > Probe.MAX_MESSAGE_BYTES) {
            throw wrongUsage("--size must be 1 to " + Probe.MAX_MESSAGE_BYTES + ", not "
                    + messageBytes);
        }
        Variant variant = Variant.of(variantName);
        RdmaDevice device = options.device();
        var times = new Histogram(HIGHEST_NS, 3);
        try (var session = new RdmaSession(device, address)) {
            long _ = session.probe().roundTrips(variant, (int) messageBytes,
                    Math.max(1, count / 10), count,
                    nanos -> times.recordValue(Math.min(nanos, HIGHEST_NS)));
        } catch (ConnectionException e) {
            throw RdmaSession.failure(e);
        }
        tell(device, variant, times);
        return 0;
    }

    private void tell(RdmaDevice device, Variant variant, Histogram times) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("device", device.info().name());
        tree.put("variant", variant.text());
        tree.put("messageBytes", messageBytes);
        tree.put("roundTrips", times.getTotalCount());
        tree.put("minMicroseconds", times.getMinValue() / 1e3);
        tree.put("medianMicroseconds", times.getValueAtPercentile(50) / 1e3);
        tree.put("p99Microseconds", times.getValueAtPercentile(99) / 1e3);
        tree.put("maxMicroseconds", times.getMaxValue() / 1e3);
        tell(options.isJson(), tree, String.format(Locale.ROOT,
                "%s, %s, %d bytes: %d round trips, min %.1f us, median %.1f us, p99 %.1f us, "
                        + "max %.1f us",
                device.info().name(), variant.text(), messageBytes, times.getTotalCount(),
                times.getMinValue() / 1e3, times.getValueAtPercentile(50) / 1e3,
                times.getValueAtPercentile(99) / 1e3, times.getMaxValue() / 1e3));
    }
}
