package lunar.bench.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs other programs. Their output goes to files, so that pipes do not slow them down. */
public final class Processes {
    private static final int TAIL_CHARS = 400;

    private Processes() {}

    public static Process start(Path log, List<String> command) throws BenchException {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(log.toFile()).start();
        } catch (IOException e) {
            throw new BenchException(command.getFirst() + " does not start: " + e.getMessage(), e);
        }
    }

    /** Runs a program to its end and returns what it wrote. */
    public static String run(Path log, int seconds, List<String> command)
            throws BenchException, InterruptedException {
        return finish(start(log, command), log, seconds, command);
    }

    public static String finish(Process process, Path log, int seconds, List<String> command)
            throws BenchException, InterruptedException {
        String text = String.join(" ", command);
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new BenchException(text + " has not ended after " + seconds + " s");
        }
        String output = read(log);
        if (process.exitValue() != 0) {
            throw new BenchException(text + " ended with " + process.exitValue() + ": "
                    + output.substring(Math.max(0, output.length() - TAIL_CHARS)).strip());
        }
        return output;
    }

    public static String read(Path file) throws BenchException {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new BenchException(file + " cannot be read: " + e.getMessage(), e);
        }
    }
}
