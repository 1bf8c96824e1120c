package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@code lunar serve} as a process of its own, with one LUN, which can be killed where it stands. */
final class ServingProcess {
    private static final long END_SECONDS = 60;

    private final Path err;
    private final Process process;
    private final String uri;

    /**
     * Returns when the LUN is announced.
     *
     * @param folder gets what the process says on its error stream
     */
    ServingProcess(Path folder, String... args) throws IOException {
        err = folder.resolve("err.txt");
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main", "serve"));
        command.addAll(List.of(args));
        process = new ProcessBuilder(command).redirectError(err.toFile()).start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        assertThat(line).as(Files.readString(err)).isNotNull();
        String[] words = line.split(" ");
        uri = "iscsi://" + words[words.length - 1] + "/" + words[1] + "/0";
    }

    /** Of the LUN. */
    String uri() { return uri; }

    long pid() { return process.pid(); }

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
