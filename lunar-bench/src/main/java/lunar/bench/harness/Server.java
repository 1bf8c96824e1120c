package lunar.bench.harness;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A target in a separate process, on a portal of the loopback interface. */
public final class Server implements AutoCloseable {
    public static final String IQN = "iqn.2026-11.org.lunar:bench";
    public static final String HOST = "127.0.0.1";
    private static final int START_TRIES = 300;
    private static final int TRY_MS = 100;
    private static final int TOOL_SECONDS = 10;
    private static final int CONTROL_NUMBERS = 30_000; // tgtd takes a positive short
    private static final Pattern READY = Pattern.compile("serving .* lun 0 .* on .*:(\\d+)");

    private final Process process;
    private final int port;
    private final String scheme;
    /** Options of the URIs of LUNs, empty or with the question mark. */
    private final String options;

    private Server(Process process, int port) { this(process, port, "iscsi", ""); }

    private Server(Process process, int port, String scheme, String options) {
        this.process = process;
        this.port = port;
        this.scheme = scheme;
        this.options = options;
    }

    /**
     * A LUN of tgtd.
     *
     * @param flags {@code direct}, {@code sync} or nothing, which is through the page cache
     */
    public record TgtdLun(Path backing, String flags) {}

    /**
     * Debian's tgtd; its LUNs are 1 and on.
     *
     * @param parameters iSCSI keys of its target that are to be other than by default
     */
    public static Server tgtd(Path directory, List<TgtdLun> luns, Map<String, String> parameters)
            throws BenchException, InterruptedException {
        Path log = directory.resolve("tgtd.log");
        int port = freePort();
        String control = String.valueOf(port % CONTROL_NUMBERS); // of no meaning, but other than of other tgtd
        try {
            Files.createDirectories(Path.of("/var/run/tgtd"));
        } catch (IOException e) {
            throw new BenchException("tgtd needs root, to make /var/run/tgtd", e);
        }
        var server = new Server(Processes.start(log, List.of("tgtd", "-f", "-C", control,
                "--iscsi", "portal=" + HOST + ":" + port)), port);
        try {
            server.setUp(directory, control, luns, parameters);
            return server;
        } catch (BenchException | InterruptedException e) {
            server.close();
            throw e;
        }
    }

    private void setUp(Path directory, String control, List<TgtdLun> luns,
            Map<String, String> parameters) throws BenchException, InterruptedException {
        for (int tries = 0;; tries++) {
            try {
                admin(directory, control, "--op", "show", "--mode", "sys");
                break;
            } catch (BenchException e) {
                if (tries == START_TRIES || !process.isAlive()) {
                    throw new BenchException("tgtd does not answer, see tgtd.log", e);
                }
                Thread.sleep(TRY_MS);
            }
        }
        admin(directory, control, "--op", "new", "--mode", "target", "--tid", "1", "-T", IQN);
        for (var parameter : parameters.entrySet()) {
            admin(directory, control, "--op", "update", "--mode", "target", "--tid", "1", "-n",
                    parameter.getKey(), "-v", parameter.getValue());
        }
        for (int i = 0; i < luns.size(); i++) {
            var command = new ArrayList<>(List.of("--op", "new", "--mode", "logicalunit", "--tid",
                    "1", "--lun", "" + (i + 1), "-b", luns.get(i).backing.toString()));
            if (!luns.get(i).flags.isEmpty()) {
                command.addAll(List.of("--bsoflags", luns.get(i).flags));
            }
            admin(directory, control, command.toArray(String[]::new));
        }
        admin(directory, control, "--op", "bind", "--mode", "target", "--tid", "1", "-I", "ALL");
    }

    private static void admin(Path directory, String control, String... args)
            throws BenchException, InterruptedException {
        var command = new ArrayList<>(List.of("tgtadm", "-C", control, "--lld", "iscsi"));
        command.addAll(List.of(args));
        Processes.run(directory.resolve("tgtadm.log"), TOOL_SECONDS, command);
    }

    /**
     * {@code lunar serve}.
     *
     * @param lunar the {@code lunar} command
     * @param jvm options of its JVM
     * @param serve options and devices
     */
    public static Server lunar(Path lunar, Path log, List<String> jvm, List<String> serve)
            throws BenchException, InterruptedException {
        var command = new ArrayList<>(List.of("env", "LUNAR_JAVA_OPTS=" + String.join(" ", jvm),
                lunar.toString(), "serve"));
        command.addAll(serve);
        return lunar(log, command);
    }

    /** {@code lunar serve} of a config file, which names {@link #IQN} and a portal of {@link #HOST}. */
    public static Server configured(Path lunar, Path log, Path config)
            throws BenchException, InterruptedException {
        return await(log, List.of(lunar.toString(), "serve", "--config", config.toString()));
    }

    /**
     * {@code lunar serve} with a portal of RDMA only.
     *
     * @param device RDMA device at both ends
     * @param serve options and devices
     */
    public static Server iser(Path lunar, Path log, String device, List<String> serve)
            throws BenchException, InterruptedException {
        var command = new ArrayList<>(
                List.of(lunar.toString(), "serve", "--portal", HOST + ":0", "--iser", HOST + ":0",
                        "--rdma-provider", device, "--iqn", IQN));
        command.addAll(serve);
        Server server = await(log, command);
        return new Server(server.process, server.port, "iser", "?rdma-provider=" + device);
    }

    /** Starts a class of this module that prints the port it listens on. */
    public static Server of(Class<?> main, Path log, String... args)
            throws BenchException, InterruptedException {
        return await(log, JavaCommand.of(main, args));
    }

    /** Starts Lunar in a JVM with native memory tracking; its LUN 0 is memory. */
    public static Server watchedLunar(Path lunar, Path log, long bytes)
            throws BenchException, InterruptedException {
        return lunar(log, List.of("env", "LUNAR_JAVA_OPTS=-XX:NativeMemoryTracking=summary",
                lunar.toString(), "serve", "ram:" + bytes));
    }

    /** {@link BenchTarget} with so many LUNs, with the options of the JVM that {@code lunar serve} has. */
    public static Server bench(Path log, String device, int luns)
            throws BenchException, InterruptedException {
        return lunar(log, JavaCommand.of(BenchTarget.class, "" + luns, device));
    }

    /** Starts a server with this command. */
    public static Server lunar(Path log, List<String> serve)
            throws BenchException, InterruptedException {
        var command = new ArrayList<>(serve);
        command.addAll(List.of("--portal", HOST + ":0", "--iqn", IQN));
        return await(log, command);
    }

    private static Server await(Path log, List<String> command)
            throws BenchException, InterruptedException {
        Process process = Processes.start(log, command);
        for (int tries = 0; tries < START_TRIES && process.isAlive(); tries++) {
            var ready = READY.matcher(Processes.read(log));
            if (ready.find()) {
                return new Server(process, Integer.parseInt(ready.group(1)));
            }
            Thread.sleep(TRY_MS);
        }
        process.destroyForcibly();
        throw new BenchException("a server does not start, see " + log);
    }

    /** Returns a port of the loopback interface that nothing listens on now. */
    public static int freePort() throws BenchException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new BenchException("no free port: " + e.getMessage(), e);
        }
    }

    public String uri(int lun) {
        return scheme + "://" + HOST + ":" + port + "/" + IQN + "/" + lun + options;
    }

    public int port() { return port; }

    public long pid() { return process.pid(); }

    /** Without ceremony: tgtd does not end at SIGTERM while it has targets. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(TOOL_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
