package lunar.admin;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where an admin API listens.
 *
 * @param socket Unix socket to create; its directory must exist
 * @param listen address of TCP to listen on; requires a token
 * @param tokenFile file with the bearer token that requests over TCP must have
 * @param allowRemote whether {@code listen} may be an address that other machines can reach
 * @param tls files of the TLS of {@code listen}; empty for TCP alone, where requests and the token are not encrypted
 */
public record AdminOptions(Optional<Path> socket, Optional<InetSocketAddress> listen,
        Optional<Path> tokenFile, boolean allowRemote, Optional<TlsFiles> tls) {
    /** Options without TLS. */
    public AdminOptions(Optional<Path> socket, Optional<InetSocketAddress> listen,
            Optional<Path> tokenFile, boolean allowRemote) {
        this(socket, listen, tokenFile, allowRemote, Optional.empty());
    }

    /** Listens on a Unix socket alone. */
    public static AdminOptions ofSocket(Path socket) {
        return new AdminOptions(Optional.of(socket), Optional.empty(), Optional.empty(), false);
    }

    /** Returns a copy that also listens on TCP, for requests with the token of a file. */
    public AdminOptions withListen(InetSocketAddress address, Path token) {
        return new AdminOptions(socket, Optional.of(address), Optional.of(token), allowRemote,
                tls);
    }

    /** Returns a copy whose TCP address takes connections with TLS only. */
    public AdminOptions withTls(TlsFiles files) {
        return new AdminOptions(socket, listen, tokenFile, allowRemote, Optional.of(files));
    }
}
