package lunar.bench.limits;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.BackingFile;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Processes;
import lunar.bench.harness.Server;

/** A server with a config file: LUN 0 with a limit that changes by reloads, LUN 1 without one. */
final class LimitedServer implements AutoCloseable {
    private static final int RELOAD_SECONDS = 30;

    private final Path config;
    private final Path log;
    private final Server server;

    LimitedServer(Path lunar, Path directory)
            throws BenchException, IOException, InterruptedException {
        config = directory.resolve("limits.toml");
        log = directory.resolve("limits.log");
        write("");
        server = Server.configured(lunar, log, config);
    }

    String uri(int lun) { return server.uri(lun); }

    long pid() { return server.pid(); }

    /** Changes the limit of LUN 0; an empty text removes it. Returns when the server has reloaded its file. */
    void limit(String limit) throws BenchException, IOException, InterruptedException {
        if (!write(limit)) {
            return;
        }
        int before = reloads();
        Processes.run(log.resolveSibling("kill.log"), RELOAD_SECONDS,
                List.of("kill", "-HUP", Long.toString(server.pid())));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(RELOAD_SECONDS);
        while (reloads() == before) {
            if (System.nanoTime() - end > 0) {
                throw new BenchException("the server does not reload, see " + log);
            }
            Thread.sleep(10);
        }
    }

    /** Returns whether the file has changed. */
    private boolean write(String limit) throws IOException {
        String device = "uri = \"ram:" + BackingFile.BYTES + "\"";
        String text = "portals = [\"" + Server.HOST + ":0\"]\niqn = \"" + Server.IQN
                + "\"\nluns = [{ " + device
                + (limit.isEmpty() ? "" : ", limit = \"" + limit + "\"") + " }, { " + device
                + " }]\n";
        boolean changed = !Files.exists(config) || !Files.readString(config).equals(text);
        Files.writeString(config, text);
        return changed;
    }

    private int reloads() throws BenchException {
        return (int) Processes.read(log).lines().filter(line -> line.startsWith("reloaded "))
                .count();
    }

    @Override
    public void close() { server.close(); }
}
