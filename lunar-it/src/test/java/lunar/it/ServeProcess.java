package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A {@code lunar serve --config} process, which can be told to reload its file. {@code close} stops it as an operator
 * would, and checks its exit status.
 */
final class ServeProcess implements AutoCloseable {
    private static final long END_SECONDS = 120;

    private final Path config;
    private final Path errors;
    private final Process process;
    private final BufferedReader out;
    private final List<String> serving = new ArrayList<>();

    /**
     * @param folder for its files
     * @param luns number of LUNs that it reports
     */
    ServeProcess(Path folder, String text, int luns) throws IOException {
        this(folder, text, luns, Map.of());
    }

    /** @param environment added to that of this process */
    ServeProcess(Path folder, String text, int luns, Map<String, String> environment)
            throws IOException {
        config = Files.writeString(folder.resolve("lunar.toml"), text);
        errors = folder.resolve("errors.txt");
        var builder = new ProcessBuilder("env", "--default-signal=HUP",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                "lunar.cli.Main", "serve", "--config",
                config.toString()).redirectError(errors.toFile());
        builder.environment().putAll(environment);
        process = builder.start();
        out = process.inputReader(StandardCharsets.UTF_8);
        for (int lun = 0; lun < luns; lun++) {
            serving.add(line());
        }
    }

    private String line() throws IOException {
        String line = out.readLine();
        if (line == null) {
            throw new AssertionError("the server has ended: " + errors());
        }
        return line;
    }

    /** Returns its output on stderr. */
    String errors() throws IOException {
        return Files.readString(errors);
    }

    /** Address and port of a portal, in the order of the file. */
    String portal(int index) {
        String line = serving.getFirst();
        return line.substring(line.lastIndexOf(' ') + 1).split(",")[index];
    }

    String url(int portal, String iqn, int lun) {
        return "iscsi://" + portal(portal) + "/" + iqn + "/" + lun;
    }

    /** Resident memory of the process. */
    long residentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024).sum();
    }

    private void hangUp(String text) throws Exception {
        Files.writeString(config, text);
        Process kill = new ProcessBuilder("kill", "-HUP", Long.toString(process.pid())).start();
        assertThat(kill.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    /** Gives it a file that it refuses, and waits until it has said why in one more line of its log. */
    void refuse(String text, String why) throws Exception {
        long before = refusals();
        hangUp(text);
        ServedTarget.await("refusal", () -> refusals() > before);
        assertThat(errors().lines().filter(ServeProcess::isRefusal).toList().getLast())
                .contains(why);
    }

    private long refusals() {
        try {
            return errors().lines().filter(ServeProcess::isRefusal).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isRefusal(String line) {
        return line.contains("configuration not reloaded: ");
    }

    /** Gives it another file, and returns what it says has changed. */
    List<String> reload(String text) throws Exception {
        hangUp(text);
        var lines = new ArrayList<String>();
        for (String line = line(); !line.startsWith("reloaded "); line = line()) {
            lines.add(line);
        }
        return lines;
    }

    /** Kills it where it stands (SIGKILL). */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** Ends it as an operator would, and returns its exit status. */
    int stop() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as("ends at SIGTERM").isTrue();
        return process.exitValue();
    }

    @Override
    public void close() throws IOException {
        if (!process.isAlive()) {
            return;
        }
        process.destroy();
        try {
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as("ends at SIGTERM")
                    .isTrue();
            assertThat(process.exitValue()).as(errors()).isZero();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }
}
