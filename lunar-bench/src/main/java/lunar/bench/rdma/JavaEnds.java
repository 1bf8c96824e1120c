package lunar.bench.rdma;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Cores;
import lunar.bench.harness.JavaCommand;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaException;
import lunar.rdma.probe.Probe;
import lunar.rdma.probe.Variant;

/** Both ends of a Lunar connection: a probe in this process, and a {@link JaviaResponder} in another. */
final class JavaEnds implements AutoCloseable {
    private static final int END_SECONDS = 10;

    /** The heap has a fixed size: otherwise, copies into new arrays would also measure page faults of its growth. */
    private static final List<String> HEAP = List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch");

    private final ProtectionDomain domain;
    private final Process responder;
    private final Probe probe;

    JavaEnds(String device) throws BenchException, IOException, InterruptedException {
        domain = Rdma.device(device).open();
        boolean started = false;
        Process process = null;
        try {
            process = new ProcessBuilder(JavaCommand.of(HEAP, JaviaResponder.class, device))
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            String port = new BufferedReader(
                    new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            if (port == null) {
                throw new BenchException("the responder of " + device + " does not start");
            }
            responder = process;
            Cores.bind(process.pid(), Cores.last());
            probe = new Probe(domain,
                    new InetSocketAddress(InetAddress.getLoopbackAddress(),
                            Integer.parseInt(port)));
            started = true;
        } finally {
            if (!started) {
                if (process != null) {
                    process.destroyForcibly();
                }
                domain.close();
            }
        }
    }

    ProtectionDomain domain() { return domain; }

    /** Measures the time for a number of messages in nanoseconds, after a tenth as many to warm up. */
    long measure(Variant variant, Mode mode, int messageBytes, int count) throws RdmaException {
        return mode == Mode.ECHO
                ? probe.roundTrips(variant, messageBytes, count / 10 + 1, count)
                : probe.stream(variant, messageBytes, count / 10 + 1, count);
    }

    @Override
    public void close() throws IOException {
        responder.getOutputStream().close();
        try {
            if (!responder.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                responder.destroyForcibly();
            }
        } catch (InterruptedException e) {
            responder.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        domain.close();
    }
}
