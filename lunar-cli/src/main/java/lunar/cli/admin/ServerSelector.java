package lunar.cli.admin;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.cli.command.Failure;
import lunar.cli.config.ConfigFile;
import lunar.cli.raid.control.ControlDirectory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Selects the server that a command talks to, by its options. */
final class ServerSelector {
    /** Time for a server to report its config file: a process that was stopped reports nothing. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /**
     * A process with an admin socket.
     *
     * @param process its id; empty if unknown
     * @param config its config file; empty if it has none or does not answer
     */
    private record Candidate(Path socket, String process, String config, boolean answers) {
        String silence() {
            return (process.isEmpty() ? "a process" : "process " + process) + " has the socket "
                    + socket + " but does not answer within " + TIMEOUT.toSeconds() + " s";
        }

        @Override
        public String toString() {
            return answers
                    ? socket + " (process " + process + (config.isEmpty() ? "" : ", " + config)
                            + ")"
                    : silence();
        }
    }

    @Mixin
    private final ServerAddress address = new ServerAddress();

    @Option(names = "--config", paramLabel = "FILE",
            description = "Choose the server that runs with this config file. Default: the only"
                    + " server of this user.")
    private @Nullable Path config;

    /** Returns a client of the selected server. */
    AdminClient client() throws IOException, Failure {
        Optional<AdminClient> there = address.client();
        if (there.isPresent() && config != null) {
            throw ServerAddress.wrongUsage("--socket, --config and --address exclude each other");
        }
        if (there.isPresent()) {
            return there.get();
        }
        return AdminClient.of((config == null ? only(running()) : with(config)).socket());
    }

    /** Returns the server that runs with a config file: at the socket that it names, or at the default one. */
    private static Candidate with(Path config) throws IOException, Failure {
        Optional<Path> named = ConfigFile.read(config).admin().socket();
        Optional<Candidate> there = named.isEmpty() ? Optional.empty() : probe(named.get());
        if (there.isPresent()) {
            return answering(there.get());
        }
        List<Candidate> all = running();
        List<Candidate> meant = all.stream()
                .filter(one -> one.answers() && isSame(Path.of(one.config()), config)).toList();
        if (!meant.isEmpty()) {
            return only(meant);
        }
        String silent = all.stream().filter(one -> !one.answers())
                .map(one -> "; " + one.silence()).collect(Collectors.joining());
        throw new Failure("no server of this user runs with the config file " + config
                + named.map(path -> ", and no server answers at " + path).orElse("") + silent
                + "; start one with 'lunar serve', or name its socket with --socket", null,
                ServerAddress.UNREACHABLE);
    }

    private static Candidate only(List<Candidate> found) throws Failure {
        if (found.isEmpty()) {
            throw new Failure("no server of this user is running; start one with 'lunar serve',"
                    + " or name its socket with --socket", null, ServerAddress.UNREACHABLE);
        }
        if (found.size() > 1) {
            throw ServerAddress
                    .wrongUsage(found.size() + " servers are running: choose one with --socket: "
                            + String.join(", ", found.stream().map(Candidate::toString).toList()));
        }
        return answering(found.getFirst());
    }

    private static Candidate answering(Candidate one) throws Failure {
        if (one.answers()) {
            return one;
        }
        throw new Failure(one.silence() + ": it was stopped or hangs; see its log", null,
                ServerAddress.UNREACHABLE);
    }

    private static boolean isSame(Path path, Path file) {
        try {
            return path.toRealPath().equals(file.toRealPath());
        } catch (IOException _) { // of a server whose file is gone
            return path.equals(file.toAbsolutePath().normalize());
        }
    }

    private static List<Candidate> running() throws IOException {
        var found = new ArrayList<Candidate>();
        for (Path each : ControlDirectory.adminSockets()) {
            probe(each).ifPresent(found::add);
        }
        return found;
    }

    /** Returns the process that listens at a socket; empty if there is none. */
    private static Optional<Candidate> probe(Path socket) {
        try {
            JsonNode status = AdminClient.of(socket).withTimeout(TIMEOUT).get("/v1/status");
            return Optional.of(new Candidate(socket, "" + status.path("pid").asLong(0),
                    status.path("config").asString(""), true));
        } catch (IOException e) {
            System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, "{0}: {1}", socket,
                    e.getMessage());
            if (e instanceof UnreachableException none && !none.isConnected()) {
                return Optional.empty();
            }
            OptionalLong process = ControlDirectory.adminProcess(socket);
            return Optional.of(new Candidate(socket,
                    process.isPresent() ? "" + process.getAsLong() : "", "", false));
        }
    }
}
