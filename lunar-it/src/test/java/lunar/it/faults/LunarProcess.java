package lunar.it.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A {@code lunar} command in a process of its own, which can be killed, stopped and continued. */
final class LunarProcess implements AutoCloseable {
    private static final long END_SECONDS = 180;

    private final Process process;
    private final BufferedReader out;
    private final Path err;

    private LunarProcess(Process process, Path err) {
        this.process = process;
        this.err = err;
        out = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts a command.
     *
     * @param prefix words before it, such as {@code unshare -m}; may be empty
     * @param environment beside that of this process
     * @param err gets its error stream, at the end of what is there
     */
    static LunarProcess start(List<String> prefix, Map<String, String> environment, Path err,
            List<String> words) throws IOException {
        var command = new ArrayList<>(prefix);
        String launcher = System.getProperty("lunar.faults.command", "");
        if (launcher.isEmpty()) {
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "--enable-native-access=ALL-UNNAMED", "-cp",
                    System.getProperty("java.class.path"), "lunar.cli.Main"));
        } else {
            command.add(launcher);
        }
        command.addAll(words);
        var builder = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(err.toFile()));
        builder.environment().putAll(environment);
        return new LunarProcess(builder.start(), err);
    }

    /** Waits until a server has announced so many LUNs. */
    LunarProcess awaitServing(int luns) throws IOException {
        for (int i = 0; i < luns; i++) {
            String line = out.readLine();
            if (line == null || !line.startsWith("serving ")) {
                process.destroyForcibly();
                throw new IOException("the server has not started: " + line + ", and says: "
                        + errors());
            }
        }
        return this;
    }

    /** Waits until a server has announced a LUN, or has ended; false where it has ended. */
    boolean serves() throws IOException {
        String line = out.readLine();
        return line != null && line.startsWith("serving ");
    }

    long pid() { return process.pid(); }

    boolean isAlive() { return process.isAlive(); }

    /** All that it and those before it have said on the error stream. */
    String errors() throws IOException {
        return Files.readString(err);
    }

    /** All that it says until it ends; with its status at the end. */
    String finish() throws IOException, InterruptedException {
        var text = new StringBuilder();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            text.append(line).append('\n');
        }
        await();
        return text.append("status ").append(process.exitValue()).toString();
    }

    int status() throws InterruptedException {
        await();
        return process.exitValue();
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        await();
    }

    /** SIGSTOP: it does nothing more until {@link #resume}. */
    void stop() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void resume() throws IOException, InterruptedException { signal("-CONT"); }

    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", signal, Long.toString(pid())).start().waitFor();
    }

    /** SIGTERM, and waits for the end. */
    void end() throws InterruptedException {
        process.destroy();
        await();
    }

    private void await() throws InterruptedException {
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("process " + pid() + " does not end");
        }
    }

    @Override
    public void close() { process.destroyForcibly(); }
}
