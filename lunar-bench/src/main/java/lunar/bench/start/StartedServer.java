package lunar.bench.start;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Server;
import lunar.bench.harness.ServerProbe;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;

/**
 * A {@code lunar serve} process of four sparse files, with its default options. A client tries to log in from the start
 * of the process on, until a login is accepted. For one thread.
 */
final class StartedServer implements AutoCloseable {
    private static final int LUNS = 4;
    private static final int START_SECONDS = 120;
    private static final int STOP_SECONDS = 30;
    private static final int TRY_MS = 5;

    private final Process process;
    private final double loginMs;

    private StartedServer(Process process, double loginMs) {
        this.process = process;
        this.loginMs = loginMs;
    }

    /**
     * Starts a server, and returns when it has accepted a login, which has logged out again.
     *
     * @param lunar the {@code lunar} command
     * @param directory of the files and the log
     * @param initiator logs in, and remains open
     */
    static StartedServer start(Path lunar, Path directory, Initiator initiator)
            throws BenchException, InterruptedException {
        int port = Server.freePort();
        var command = new ArrayList<>(List.of(lunar.toString(), "serve"));
        files(directory).forEach(file -> command.add("file:" + file + "?size=1GiB"));
        command.addAll(List.of("--portal", Server.HOST + ":" + port, "--iqn", Server.IQN));
        Path log = directory.resolve("start.log");
        long startNs = System.nanoTime();
        Process process = Processes.start(log, command);
        try (Session _ = login(process, SessionOptions.of(Server.HOST, port, Server.IQN),
                initiator, log)) {
            return new StartedServer(process, (System.nanoTime() - startNs) / 1e6);
        } catch (BenchException | InterruptedException | RuntimeException e) {
            stop(process);
            throw e;
        }
    }

    private static Session login(Process process, SessionOptions at, Initiator initiator, Path log)
            throws BenchException, InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            boolean isAlive = process.isAlive();
            try {
                return initiator.login(at);
            } catch (IOException e) { // it does not listen yet
                if (!isAlive || System.nanoTime() - endNs > 0) {
                    throw new BenchException("a server accepts no login, see " + log, e);
                }
            }
            Thread.sleep(TRY_MS);
        }
    }

    private static List<Path> files(Path directory) {
        var files = new ArrayList<Path>();
        for (int lun = 0; lun < LUNS; lun++) {
            files.add(directory.resolve("start-" + lun + ".img"));
        }
        return files;
    }

    /** Removes the files that servers have made in a directory. */
    static void removeFiles(Path directory) throws IOException {
        for (Path file : files(directory)) {
            Files.deleteIfExists(file);
        }
    }

    /** Returns the time from the start of the process to the accepted login. */
    double loginMs() {
        return loginMs;
    }

    /** Returns the resident memory of the process, in bytes. */
    long residentBytes() throws BenchException {
        return new ServerProbe(process.pid(), Path.of("")).residentBytes();
    }

    /** Ends the server in order, so that nothing is left of it, or kills it after 30 s. */
    @Override
    public void close() { stop(process); }

    private static void stop(Process process) {
        process.destroy();
        try {
            if (process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
