package lunar.cli.admin;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.cli.command.Failure;
import lunar.cli.config.ConfigOption;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for the address of a server's admin API: a Unix socket, or TCP with a token. */
public final class ServerAddress {
    /** Exit status if no server answers. */
    static final int UNREACHABLE = 4;

    private static final int WRONG_USAGE = 2;

    @Option(names = "--socket", paramLabel = "PATH", description = "Admin socket of the server.")
    private @Nullable Path socket;

    @Mixin
    private final TcpOptions tcp = new TcpOptions();

    /**
     * Returns a client of the server at the address; empty if there is no option for it.
     *
     * @throws IOException if a file of TLS cannot be used; the message is one line
     */
    public Optional<AdminClient> client() throws IOException, Failure {
        if (socket != null && tcp.address() != null) {
            throw wrongUsage("--socket and --address exclude each other");
        }
        Optional<AdminClient> remote = tcp.client();
        return remote.isPresent() ? remote : Optional.ofNullable(socket).map(AdminClient::of);
    }

    /** Like {@link #client()}, but excludes a config file, since the server knows its volumes. */
    public Optional<AdminClient> client(ConfigOption config) throws IOException, Failure {
        Optional<AdminClient> there = client();
        if (there.isPresent() && config.isGiven()) {
            throw wrongUsage("--config excludes --socket and --address: the server knows its"
                    + " volumes");
        }
        return there;
    }

    /** Returns the failure of a command whose server does not answer. */
    public static Failure unreachable(UnreachableException e) {
        return new Failure(e.getMessage() + "; check that the server runs, and its log", e,
                UNREACHABLE);
    }

    static Failure wrongUsage(String message) { return new Failure(message, null, WRONG_USAGE); }
}
