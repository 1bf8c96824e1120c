package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A {@code lunar serve} process with one LUN, which can be killed at any moment. */
final class ServingProcess {
    private static final long END_SECONDS = 120;

    private final Path err;
    private final Process process;
    private final String uri;

    /**
     * Returns when the LUN is announced.
     *
     * @param folder gets what the process says on its error stream
     */
    ServingProcess(Path folder, String... args) throws IOException {
        this(folder.resolve("err.txt"), Map.of(), List.of(), args);
    }

    /**
     * Returns when the LUN is announced.
     *
     * @param folder gets what the process says on its error stream
     * @param before a program that runs the command that follows it
     */
    ServingProcess(Path folder, List<String> before, String... args) throws IOException {
        this(folder.resolve("err.txt"), Map.of(), before, args);
    }

    /**
     * Returns when the LUN is announced.
     *
     * @param err gets what the process says on its error stream
     * @param environment variables that it has beside this process's
     */
    ServingProcess(Path err, Map<String, String> environment, String... args)
            throws IOException {
        this(err, environment, List.of(), args);
    }

    private ServingProcess(Path err, Map<String, String> environment, List<String> before,
            String... args) throws IOException {
        this.err = err;
        var command = new ArrayList<>(List.of("env", "--default-signal=HUP")); // where nohup started the build
        command.addAll(before);
        command.addAll(lunar("serve"));
        command.addAll(List.of(args));
        var builder = new ProcessBuilder(command).redirectError(err.toFile());
        builder.environment().putAll(environment);
        process = builder.start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        assertThat(line).as(Files.readString(err)).isNotNull();
        String[] words = line.split(" ");
        uri = "iscsi://" + words[words.length - 1] + "/" + words[1] + "/0";
    }

    /** Runs a {@code serve} that ends by itself, and returns what it says on its error stream. */
    static String refused(String... args) throws IOException, InterruptedException {
        var command = new ArrayList<>(lunar("serve"));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String first = String.valueOf(process.inputReader(StandardCharsets.UTF_8).readLine());
            assertThat(first).startsWith("lunar: ");
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(1);
            return first;
        } finally {
            process.destroyForcibly();
        }
    }

    /** The words of a command as a process of its own. */
    static List<String> lunar(String... args) {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main"));
        command.addAll(List.of(args));
        return command;
    }

    /** Returns its output on standard error. */
    String err() throws IOException {
        return Files.readString(err);
    }

    /** Waits until it has said something on its error stream, at most {@value #END_SECONDS} s. */
    void awaitErr(String part) throws IOException, InterruptedException {
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
        while (!err().contains(part) && System.nanoTime() - endNanos < 0) {
            Thread.sleep(20);
        }
        assertThat(err()).contains(part);
    }

    /** Of the LUN. */
    String uri() { return uri; }

    long pid() { return process.pid(); }

    /** Sends SIGHUP. */
    void hangUp() throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-HUP", Long.toString(pid())).start();
        assertThat(kill.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    /** Ends it where it stands. */
    void kill() throws InterruptedException {
        process.destroyForcibly(); // SIGKILL
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** Ends it in order. */
    void end() throws IOException, InterruptedException {
        process.destroy(); // SIGTERM
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(err)).isZero();
    }
}
