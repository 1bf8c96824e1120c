package lunar.store;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Block device of the kernel over a file. Requires root and losetup, without which the tests are skipped. */
final class LoopDisk implements AutoCloseable {
    private final Path device;

    private LoopDisk(Path device) { this.device = device; }

    static LoopDisk over(Path file, long sizeBytes) throws Exception {
        return over(file, sizeBytes, "-f");
    }

    static LoopDisk writeProtected(Path file, long sizeBytes) throws Exception {
        return over(file, sizeBytes, "-rf");
    }

    private static LoopDisk over(Path file, long sizeBytes, String how) throws Exception {
        try (var image = new RandomAccessFile(file.toFile(), "rw")) {
            image.setLength(sizeBytes);
        }
        assumeTrue(Files.exists(Path.of("/dev/loop-control")), "no loop devices here");
        String printed = run(List.of("losetup", how, "--show", file.toString()));
        return new LoopDisk(Path.of(printed));
    }

    Path device() { return device; }

    /** Runs a program and returns what it prints; skips the test where it cannot. */
    static String run(List<String> command) throws Exception {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            assumeTrue(false, "cannot run " + command + ": " + e.getMessage());
            throw e;
        }
        String printed = new String(process.getInputStream().readAllBytes(),
                StandardCharsets.UTF_8).strip();
        boolean succeeded = process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
        assumeTrue(succeeded, () -> command + ": " + printed);
        return printed;
    }

    @Override
    public void close() throws Exception { run(List.of("losetup", "-d", device.toString())); }
}
