package lunar.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A target in a process of its own, on a portal of the loopback interface. */
final class Server implements AutoCloseable {
    static final String IQN = "iqn.2026-11.org.lunar:bench";
    static final String HOST = "127.0.0.1";
    private static final int START_TRIES = 100;
    private static final int TRY_MS = 100;
    private static final int TOOL_SECONDS = 10;
    private static final int CONTROL_NUMBERS = 30_000; // tgtd takes a positive short
    private static final Pattern READY = Pattern.compile("serving .* lun 0 .* on .*:(\\d+)");

    private final Process process;
    private final int port;

    private Server(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Debian's tgtd; its LUN 1 is the backing file, through the page cache. */
    static Server tgtd(Settings settings, Path backing)
            throws BenchException, InterruptedException {
        Path log = settings.directory().resolve("tgtd.log");
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
            server.setUp(settings, control, backing);
            return server;
        } catch (BenchException | InterruptedException e) {
            server.close();
            throw e;
        }
    }

    private void setUp(Settings settings, String control, Path backing)
            throws BenchException, InterruptedException {
        for (int tries = 0;; tries++) {
            try {
                admin(settings, control, "--op", "show", "--mode", "sys");
                break;
            } catch (BenchException e) {
                if (tries == START_TRIES || !process.isAlive()) {
                    throw new BenchException("tgtd does not answer, see tgtd.log", e);
                }
                Thread.sleep(TRY_MS);
            }
        }
        admin(settings, control, "--op", "new", "--mode", "target", "--tid", "1", "-T", IQN);
        admin(settings, control, "--op", "new", "--mode", "logicalunit", "--tid", "1", "--lun",
                "1", "-b", backing.toString());
        admin(settings, control, "--op", "bind", "--mode", "target", "--tid", "1", "-I", "ALL");
    }

    private static void admin(Settings settings, String control, String... args)
            throws BenchException, InterruptedException {
        var command = new ArrayList<>(List.of("tgtadm", "-C", control, "--lld", "iscsi"));
        command.addAll(List.of(args));
        Processes.run(settings.directory().resolve("tgtadm.log"), TOOL_SECONDS, command);
    }

    /** Lunar; its LUN 0 is the backing file, through the page cache, its LUN 1 as much memory with the same content. */
    static Server lunar(Settings settings, Path backing, long bytes)
            throws BenchException, InterruptedException {
        return lunar(settings.directory().resolve("lunar.log"), List.of(
                settings.lunar().toString(), "serve", "file:" + backing, "ram:" + bytes));
    }

    /** Lunar, whose JVM tells what native memory it uses; its LUN 0 is memory. */
    static Server watchedLunar(Path lunar, Path log, long bytes)
            throws BenchException, InterruptedException {
        return lunar(log, List.of("env", "LUNAR_JAVA_OPTS=-XX:NativeMemoryTracking=summary",
                lunar.toString(), "serve", "ram:" + bytes));
    }

    /** {@link BenchTarget} with so many LUNs, with the options of the JVM that {@code lunar serve} has. */
    static Server bench(Path log, String device, int luns)
            throws BenchException, InterruptedException {
        return lunar(log,
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational",
                        "--module-path",
                        System.getProperty("jdk.module.path", ""), "--module",
                        "lunar.bench/" + BenchTarget.class.getName(), "" + luns, device));
    }

    /** What this command serves. */
    static Server lunar(Path log, List<String> serve)
            throws BenchException, InterruptedException {
        var command = new ArrayList<>(serve);
        command.addAll(List.of("--portal", HOST + ":0", "--iqn", IQN));
        Process process = Processes.start(log, command);
        for (int tries = 0; tries < START_TRIES && process.isAlive(); tries++) {
            var ready = READY.matcher(Processes.read(log));
            if (ready.find()) {
                return new Server(process, Integer.parseInt(ready.group(1)));
            }
            Thread.sleep(TRY_MS);
        }
        process.destroyForcibly();
        throw new BenchException("lunar serve does not start, see lunar.log");
    }

    private static int freePort() throws BenchException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new BenchException("no free port: " + e.getMessage(), e);
        }
    }

    String uri(int lun) { return "iscsi://" + HOST + ":" + port + "/" + IQN + "/" + lun; }

    int port() { return port; }

    long pid() { return process.pid(); }

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
