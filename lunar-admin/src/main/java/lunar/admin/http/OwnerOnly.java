package lunar.admin.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/**
 * Refuses the connections of a Unix socket that come from another user than that of this process or root. Asks for the
 * user of this process once, not for the owner of the socket, which another process could have replaced.
 *
 * @param owner the user of this process
 * @param socket the socket, for the log
 */
record OwnerOnly(UserPrincipal owner, Path socket) {
    private static final System.Logger LOG = System.getLogger("lunar.admin");
    private static final String ROOT = "root";

    /** Returns the check for a socket of this process. */
    static OwnerOnly of(Path socket) throws IOException {
        return new OwnerOnly(user(), socket);
    }

    /** Returns the user of this process. */
    static UserPrincipal user() throws IOException {
        return Files.getOwner(Path.of("/proc/self"));
    }

    /** Throws if a connection comes from another user. */
    void check(SocketChannel channel) {
        try {
            UserPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
            if (!admits(peer, owner)) {
                LOG.log(System.Logger.Level.WARNING,
                        "refused a connection of user {0} to the admin socket {1}",
                        peer.getName(), socket);
                throw new IllegalStateException("not the owner");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean admits(UserPrincipal peer, UserPrincipal owner) {
        return peer.equals(owner) || peer.getName().equals(ROOT);
    }
}
