package lunar.it;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import lunar.testkit.FreePorts;

/** A tgtd process on free ports. LUN 1 of each target is a file; LUN 0 is tgtd's controller. */
final class Tgtd implements AutoCloseable {
    private static final String NAME = "iqn.2026-11.org.lunar:";
    private static final int TRIES = 2_000;

    private final Process process;
    private final int control;
    private final int port;
    private final Path folder;
    private int targets;

    private Tgtd(Process process, int control, int port, Path folder) {
        this.process = process;
        this.control = control;
        this.port = port;
        this.folder = folder;
    }

    /** Starts one, or skips the test where there is none to start. */
    static Tgtd start(Path folder) throws IOException, InterruptedException {
        String missing = missing();
        if (!missing.isEmpty()) {
            System.err.println("skipped: " + missing); // the reason is to be seen in the build's output
        }
        assumeTrue(missing.isEmpty(), missing);
        Files.createDirectories(Path.of("/var/run/tgtd"));
        int control;
        do {
            control = ThreadLocalRandom.current().nextInt(1_000, 32_000);
        } while (Files.exists(Path.of("/var/run/tgtd", "socket." + control)));
        int port = FreePorts.one();
        Process process = new ProcessBuilder("tgtd", "-f", "-C", Integer.toString(control),
                "--iscsi", "portal=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("tgtd.log").toFile()).start();
        var tgtd = new Tgtd(process, control, port, folder);
        try {
            tgtd.awaitReady();
            return tgtd;
        } catch (IOException | InterruptedException | RuntimeException e) {
            tgtd.close();
            throw e;
        }
    }

    private static String missing() {
        for (String program : List.of("tgtd", "tgtadm")) {
            boolean found = Arrays.stream(System.getenv("PATH").split(":"))
                    .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
            if (!found) {
                return program + " is not installed (package tgt)";
            }
        }
        return Files.isWritable(Path.of("/var/run"))
                ? ""
                : "tgtd needs to write to /var/run, that is, to be root";
    }

    private void awaitReady() throws IOException, InterruptedException {
        for (int i = 0; i < TRIES && process.isAlive(); i++) {
            try (var socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                if (run("--op", "show", "--mode", "target") == 0) {
                    return;
                }
            } catch (IOException _) {
                // not yet
            }
            process.waitFor(25, TimeUnit.MILLISECONDS);
        }
        throw new IOException(
                "tgtd does not start: " + Files.readString(folder.resolve("tgtd.log")));
    }

    String portal() { return "127.0.0.1:" + port; }

    int port() { return port; }

    static String name(String target) { return NAME + target; }

    /** A target with a sparse file as LUN 1. Returns its number, for {@link #admin}. */
    String addTarget(String name, long sizeBytes) throws IOException, InterruptedException {
        String tid = Integer.toString(++targets);
        Path file = folder.resolve(name + ".img");
        try (var image = new RandomAccessFile(file.toFile(), "rw")) {
            image.setLength(sizeBytes);
        }
        admin("--op", "new", "--mode", "target", "--tid", tid, "-T", name(name));
        admin("--op", "new", "--mode", "logicalunit", "--tid", tid, "--lun", "1", "-b",
                file.toString());
        admin("--op", "bind", "--mode", "target", "--tid", tid, "-I", "ALL");
        return tid;
    }

    /** Sets an operational parameter of a target. */
    void parameter(String tid, String key, String value) throws IOException, InterruptedException {
        admin("--op", "update", "--mode", "target", "--tid", tid, "--name", key, "--value", value);
    }

    /** Runs tgtadm, which must succeed. */
    void admin(String... arguments) throws IOException, InterruptedException {
        int status = run(arguments);
        if (status != 0) {
            throw new IOException("tgtadm " + String.join(" ", arguments) + " ended with "
                    + status);
        }
    }

    private int run(String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<String>(
                List.of("tgtadm", "-C", Integer.toString(control), "--lld", "iscsi"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
