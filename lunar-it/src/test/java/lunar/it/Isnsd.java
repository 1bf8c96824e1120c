package lunar.it;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import lunar.isns.IsnsServer;
import lunar.testkit.FreePorts;

/**
 * An isnsd process on a free port of the loopback interface with an empty database, and isnsadm to query it. All its
 * files are in one folder.
 */
final class Isnsd implements AutoCloseable {
    private static final String HOST = "127.0.0.1";
    private static final int TRIES = 4_000;
    private static final long PAUSE_NANOS = 25_000_000;

    private final Path folder;
    private final int port;
    private final String period;
    private Peer process;

    /**
     * Starts one, or skips the test where there is none to start.
     *
     * @param period how long it keeps an entity that does not report, in the format of its config file
     */
    Isnsd(Path folder, String period) throws IOException, InterruptedException {
        Peer.assume("isnsd", "isnsadm");
        this.folder = folder;
        this.period = period;
        port = FreePorts.one();
        Files.writeString(folder.resolve("isnsadm.conf"), """
                SourceName = iqn.2026-11.org.lunar:admin
                Control.SourceName = iqn.2026-11.org.lunar:control
                ServerAddress = %s:%d
                ControlSocket = %s/control
                Security = 0
                """.formatted(HOST, port, folder));
        process = started();
    }

    private Peer started() throws IOException, InterruptedException {
        Path database = Files.createTempDirectory(folder, "database");
        Path config = Files.writeString(folder.resolve("isnsd.conf"), """
                SourceName = iqn.2026-11.org.lunar:isnsd
                BindAddress = %s:%d
                PIDFile = %s/pid
                ControlSocket = %s/control
                Database = %s
                DefaultDiscoveryDomain = 1
                RegistrationPeriod = %s
                Security = 0
                SLPRegister = 0
                """.formatted(HOST, port, folder, folder, database, period));
        Files.deleteIfExists(folder.resolve("control"));
        Peer peer = Peer.start("isnsd", "--foreground", "--config", config.toString());
        for (int i = 0; i < TRIES && peer.isAlive(); i++) {
            try (var socket = new Socket()) {
                socket.connect(new InetSocketAddress(HOST, port));
                return peer;
            } catch (IOException _) {
                LockSupport.parkNanos(PAUSE_NANOS); // not yet
            }
        }
        peer.kill();
        throw new IOException("isnsd does not start: " + peer.await(Duration.ZERO));
    }

    IsnsServer server() { return new IsnsServer(HOST, port); }

    /** Address and port. */
    String address() { return HOST + ":" + port; }

    /** Kills it where it stands (SIGKILL) and starts another, which knows nothing. */
    void killAndForget() throws IOException, InterruptedException {
        process.kill();
        process.close();
        process = started();
    }

    /** Runs isnsadm at the server's control socket, which must succeed. */
    String admin(String... arguments) {
        var command = new ArrayList<String>(List.of("isnsadm", "--config",
                folder.resolve("isnsadm.conf").toString(), "--local"));
        command.addAll(List.of(arguments));
        try {
            return Peer.run(command.toArray(String[]::new)).succeeded().output();
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Lists its entries: {@code nodes}, {@code portals}, {@code portal-groups} or {@code entities}. */
    String list(String kind) {
        return admin("--list", kind);
    }

    boolean knows(String node) { return list("nodes").contains('"' + node + '"'); }

    @Override
    public void close() throws IOException { process.close(); }
}
