package lunar.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A foreign program: starts it, keeps its output (both streams in one, in order), and ends it by its own process
 * handle. Every wait is bounded.
 */
final class Peer implements AutoCloseable {
    /** Debian packages of the programs that tests use, for the reason of a skipped test. */
    private static final Map<String, String> PACKAGES = Map.ofEntries(
            Map.entry("iscsi-ls", "libiscsi-bin"), Map.entry("iscsi-inq", "libiscsi-bin"),
            Map.entry("iscsi-readcapacity16", "libiscsi-bin"),
            Map.entry("iscsi-perf", "libiscsi-bin"), Map.entry("iscsi-test-cu", "libiscsi-bin"),
            Map.entry("qemu-img", "qemu-utils and qemu-block-extra"),
            Map.entry("qemu-io", "qemu-utils and qemu-block-extra"),
            Map.entry("isnsd", "open-isns-server"), Map.entry("isnsadm", "open-isns-utils"),
            Map.entry("s3cmd", "s3cmd"),
            Map.entry("sgdisk", "gdisk"), Map.entry("mkfs.vfat", "dosfstools"),
            Map.entry("mcopy", "mtools"), Map.entry("tshark", "tshark"),
            Map.entry("mke2fs", "e2fsprogs"), Map.entry("chromium", "chromium"),
            Map.entry("curl", "curl"), Map.entry("stunnel4", "stunnel4"));

    /** Output of a program that has ended. */
    record Result(List<String> command, int status, String output) {
        /** The result, when the status is 0. */
        Result succeeded() {
            if (status != 0) {
                throw new AssertionError(this);
            }
            return this;
        }

        List<String> lines() {
            return output.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
        }

        @Override
        public String toString() {
            return String.join(" ", command) + "\nended with status " + status + " and printed\n"
                    + output;
        }
    }

    private final List<String> command;
    private final Process process;
    private final Path output;

    private Peer(List<String> command) throws IOException {
        this.command = command;
        output = Files.createTempFile("lunar-peer", ".log");
        process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(output.toFile()).start();
    }

    /** Skips the test where one of these programs is not installed. */
    static void assume(String... programs) {
        for (String program : programs) {
            Assumptions.assumeTrue(isInstalled(program),
                    program + " is not installed (Debian: "
                            + PACKAGES.getOrDefault(program, program) + ")");
        }
    }

    private static boolean isInstalled(String program) {
        String path = System.getenv().getOrDefault("PATH", "") + ":/usr/sbin:/sbin";
        return List.of(path.split(":")).stream()
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** Starts a program. */
    static Peer start(String... command) throws IOException {
        return new Peer(List.of(command));
    }

    /** Runs a program to its end, three minutes at most. */
    static Result run(String... command) throws IOException, InterruptedException {
        return run(Duration.ofMinutes(3), command);
    }

    /** Runs a program to its end, within a bound. */
    static Result run(Duration bound, String... command) throws IOException, InterruptedException {
        try (Peer peer = start(command)) {
            return peer.await(bound);
        }
    }

    /** Waits for the end. */
    Result await(Duration bound) throws IOException, InterruptedException {
        if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError(String.join(" ", command) + "\ndid not end within " + bound
                    + " and printed\n" + printed());
        }
        return new Result(command, process.exitValue(), printed());
    }

    /** Asks it to end (SIGTERM). */
    void terminate() { process.destroy(); }

    long pid() { return process.pid(); }

    boolean isAlive() { return process.isAlive(); }

    /** Kills the program where it stands (SIGKILL). */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            throw new AssertionError(String.join(" ", command) + "\ncannot be killed");
        }
    }

    private String printed() throws IOException {
        return Files.readString(output, StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.delete(output);
    }
}
