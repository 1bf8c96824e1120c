package lunar.admin.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.client.AdminClient;
import lunar.admin.report.Administered;
import lunar.admin.report.LunAnswer;
import lunar.admin.report.RefusedException;
import lunar.server.ChangedLun;
import lunar.server.InvalidPlanException;
import lunar.server.LunRequest;
import lunar.server.ServedUnit;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;

/** A server of one LUN with an admin API on a Unix socket and on TCP. */
final class AdminFixture implements AutoCloseable {
    static final String IQN = "iqn.2026-11.org.lunar:admin";
    static final String TOKEN = "a-token-of-the-tests";

    final StorageServer server;
    final AdminServer admin;
    final Path socket;
    volatile String refusal = "";
    volatile boolean discarding;
    volatile Runnable reloading = () -> {};

    AdminFixture(Path folder) throws Exception { this(folder, "ram:1MiB"); }

    AdminFixture(Path folder, String device) throws Exception {
        socket = folder.resolve("admin.sock");
        server = StorageServer.start(ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of(device)))));
        admin = AdminServer.start(
                AdminOptions.ofSocket(socket).withListen(loopback(), token(folder)), subject());
    }

    static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    static Path token(Path folder) throws IOException {
        Path file = folder.resolve("token");
        Files.writeString(file, TOKEN + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    Administered subject() {
        return new Administered() {
            @Override
            public StorageServer server() { return server; }

            @Override
            public String version() { return "0"; }

            @Override
            public Optional<Path> configFile() { return Optional.empty(); }

            @Override
            public Optional<Path> stateDirectory() { return Optional.empty(); }

            @Override
            public List<String> reload(boolean discard) throws RefusedException {
                discarding = discard;
                reloading.run();
                if (!refusal.isEmpty()) {
                    throw new RefusedException(refusal, null);
                }
                return List.of("serving one more");
            }

            @Override
            public LunAnswer change(LunRequest request) throws RefusedException {
                try {
                    ChangedLun done = server.change(request);
                    return new LunAnswer(done.iqn(), done.lun(), done.change().units().stream()
                            .map(ServedUnit::toString).toList());
                } catch (IOException | InvalidPlanException e) {
                    throw new RefusedException(e.getMessage(), e);
                }
            }
        };
    }

    AdminClient client() { return AdminClient.of(socket); }

    AdminClient overTcp(String token) {
        return AdminClient.of(new InetSocketAddress(InetAddress.getLoopbackAddress(),
                admin.port().orElseThrow()), token);
    }

    /** The URI of the LUN. */
    String uri() {
        InetSocketAddress portal = server.portals().getFirst();
        return "iscsi://127.0.0.1:" + portal.getPort() + "/" + IQN + "/0";
    }

    @Override
    public void close() throws Exception {
        admin.close();
        server.close();
    }
}
