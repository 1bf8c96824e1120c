package lunar.cli.serve;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.report.Administered;
import lunar.admin.report.LunAnswer;
import lunar.admin.report.RefusedException;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.command.Version;
import lunar.cli.config.AdminTable;
import lunar.cli.config.Portal;
import lunar.cli.raid.control.ControlDirectory;
import lunar.server.LunRequest;
import lunar.server.StorageServer;
import org.jspecify.annotations.Nullable;

/**
 * The admin API of {@code serve}. Without settings it is a Unix socket in the user's run directory; a failure to create
 * that is logged, not fatal. Thread-safe.
 */
final class AdminService implements AutoCloseable {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(3);
    /** Servers of one process, as in tests. */
    private static final int MAX_SERVERS = 100;

    /** Changes what is served. */
    interface Changes {
        /** Reads the configuration again, see {@link Administered#reload}. */
        List<String> reload(boolean discard) throws RefusedException;

        /** Changes a LUN, see {@link Administered#change}. */
        LunAnswer change(LunRequest request) throws RefusedException;
    }

    private record Subject(StorageServer server, Optional<Path> configFile,
            Optional<Path> stateDirectory, Changes changes) implements Administered {
        @Override
        public String version() {
            try {
                return Version.number();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public List<String> reload(boolean discard) throws RefusedException {
            return changes.reload(discard);
        }

        @Override
        public LunAnswer change(LunRequest request) throws RefusedException {
            return changes.change(request);
        }
    }

    private final AdminTable table;
    private final Optional<Path> config;
    private final Optional<Path> state;
    private final Changes changes;
    private @Nullable AdminServer running;
    private boolean closed;

    /**
     * @param config the config file that is reloaded
     * @param state the state directory
     */
    AdminService(AdminTable table, Optional<Path> config, Optional<Path> state, Changes changes) {
        this.table = table;
        this.config = config;
        this.state = state;
        this.changes = changes;
    }

    /** Starts it where the configuration says. */
    void startExplicit(StorageServer server) throws Failure {
        if (!table.enabled() || !table.isExplicit()) {
            return;
        }
        try {
            start(server, table.socket().or(AdminService::usualSocket));
        } catch (IOException e) {
            throw new Failure("the admin API does not start: " + message(e), e);
        }
    }

    /** Starts it in the default place, if the configuration does not name one. Does not wait for it. */
    void startDefault(StorageServer server) {
        if (table.enabled() && !table.isExplicit()) {
            Thread.ofPlatform().daemon().name("lunar-admin").start(() -> {
                try {
                    start(server, Optional.of(freeSocket()));
                } catch (Throwable e) { // a class that an image lacks, too: it serves its hosts all the same
                    Serving.LOG.log(System.Logger.Level.WARNING,
                            "'lunar status' and others cannot reach this server: " + message(e),
                            e instanceof IOException ? null : e);
                }
            });
        }
    }

    /** Returns the socket beside a TCP address; empty, with a warning, if there is no place for it. */
    private static Optional<Path> usualSocket() {
        try {
            return Optional.of(freeSocket());
        } catch (IOException e) {
            Serving.LOG.log(System.Logger.Level.WARNING,
                    "the admin API has no socket, only its TCP address: " + message(e));
            return Optional.empty();
        }
    }

    private synchronized void start(StorageServer server, Optional<Path> socket)
            throws IOException {
        if (closed) {
            return;
        }
        Optional<Portal> listen = table.listen();
        try {
            running = AdminServer.start(new AdminOptions(socket,
                    listen.isEmpty() ? Optional.empty() : Optional.of(listen.get().resolve()),
                    table.tokenFile(), table.allowRemote(), table.tls()),
                    new Subject(server, config, state, changes));
        } catch (Failure e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Returns one line; a failure of the file system has only a path for a message. */
    private static String message(Throwable e) {
        return e instanceof FileSystemException file && file.getReason() == null
                ? "cannot create or access " + file.getFile() + " ("
                        + file.getClass().getSimpleName() + ")"
                : Errors.message(e);
    }

    private static Path freeSocket() throws IOException {
        StaleSockets.remove();
        ControlDirectory place = ControlDirectory.ofUser();
        for (int number = 1; number < MAX_SERVERS; number++) {
            Path socket = place.adminSocket(number);
            if (!Files.exists(socket) || !AdminServer.isAlive(socket)) {
                return socket;
            }
        }
        throw new IOException("this process runs " + MAX_SERVERS + " servers already");
    }

    /** Stops it, within a bounded time: what is closed after it must be, too. */
    @Override
    public void close() {
        Thread closing = Thread.ofPlatform().daemon().name("lunar-admin-close").start(this::stop);
        try {
            boolean _ = closing.join(CLOSE_LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void stop() {
        closed = true;
        if (running != null) {
            running.close();
            running = null;
        }
    }
}
