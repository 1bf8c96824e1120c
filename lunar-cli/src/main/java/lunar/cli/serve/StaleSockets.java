package lunar.cli.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import lunar.admin.AdminServer;
import lunar.cli.raid.control.ControlDirectory;

/** Removes the admin sockets of servers that were killed, which nothing else would ever remove. */
final class StaleSockets {
    private StaleSockets() {}

    /** Removes those in the run directories of this user. Failures are logged alone. */
    static void remove() throws IOException {
        for (Path socket : ControlDirectory.adminSockets()) {
            try {
                OptionalLong process = ControlDirectory.adminProcess(socket);
                if (process.isPresent() && ProcessHandle.of(process.getAsLong()).isEmpty()) {
                    AdminServer.removeStale(socket); // a server in another PID namespace holds its lock
                }
            } catch (IOException e) {
                System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG,
                        "cannot remove {0}: {1}", socket, e.getMessage());
            }
        }
    }
}
