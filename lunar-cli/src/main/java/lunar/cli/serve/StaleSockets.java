package lunar.cli.serve;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.OptionalLong;
import lunar.cli.raid.control.ControlDirectory;

/** Removes the admin sockets of servers that were killed, which nothing else would ever remove. */
final class StaleSockets {
    private StaleSockets() {}

    /** Removes those in the run directories of this user. Failures are logged alone. */
    static void remove() throws IOException {
        for (Path socket : ControlDirectory.adminSockets()) {
            try {
                OptionalLong process = ControlDirectory.adminProcess(socket);
                // Both: a server in another PID namespace answers, and one that just starts does not yet.
                if (process.isPresent() && ProcessHandle.of(process.getAsLong()).isEmpty()
                        && isSocket(socket) && isRefused(socket)) {
                    Files.deleteIfExists(socket);
                    Files.deleteIfExists(socket.resolveSibling(socket.getFileName() + ".lock"));
                }
            } catch (IOException e) {
                System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG,
                        "cannot remove {0}: {1}", socket, e.getMessage());
            }
        }
    }

    private static boolean isSocket(Path path) throws IOException {
        int type = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS)
                & 0170000;
        return type == 0140000; // S_IFSOCK
    }

    private static boolean isRefused(Path socket) throws IOException {
        try (var _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return false;
        } catch (ConnectException _) {
            return true;
        }
    }
}
