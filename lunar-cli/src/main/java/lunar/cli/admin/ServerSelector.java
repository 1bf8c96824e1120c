package lunar.cli.admin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lunar.admin.client.AdminClient;
import lunar.admin.client.UnreachableException;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.config.AdminTable;
import lunar.cli.config.ConfigFile;
import lunar.cli.config.Portal;
import lunar.cli.raid.control.ControlDirectory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Selects the server that a command talks to, by its options. */
final class ServerSelector {
    /** Exit status if no server answers. */
    static final int UNREACHABLE = 4;

    private static final int WRONG_USAGE = 2;
    private static final int DELETE = 0x7f;
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

    @Option(names = "--socket", paramLabel = "PATH",
            description = "Admin socket of the server. Default: that of the only server of this user.")
    private @Nullable Path socket;

    @Option(names = "--config", paramLabel = "FILE",
            description = "Choose the server that runs with this config file.")
    private @Nullable Path config;

    @Option(names = "--address", paramLabel = "HOST:PORT",
            description = "Ask over TCP; needs --token-file.")
    private @Nullable String address;

    @Option(names = "--token-file", paramLabel = "FILE",
            description = "File with the token of --address.")
    private @Nullable Path tokenFile;

    /** Returns a client of the selected server. */
    AdminClient client() throws IOException, Failure {
        if (Stream.of(socket, config, address).filter(Objects::nonNull).count() > 1) {
            throw wrongUsage("--socket, --config and --address exclude each other");
        }
        if (address != null) {
            return overTcp(address);
        }
        if (tokenFile != null) {
            throw wrongUsage("--token-file needs --address HOST:PORT");
        }
        if (socket != null) {
            return AdminClient.of(socket);
        }
        return AdminClient.of((config == null ? only(running()) : with(config)).socket());
    }

    private static Failure wrongUsage(String message) {
        return new Failure(message, null, WRONG_USAGE);
    }

    private AdminClient overTcp(String where) throws Failure {
        if (tokenFile == null) {
            throw wrongUsage("--address needs --token-file FILE: the token of the server");
        }
        try {
            return AdminClient.of(Portal.parse(where, AdminTable.DEFAULT_PORT).resolve(),
                    token(tokenFile));
        } catch (IllegalArgumentException e) {
            throw new Failure("--address: " + e.getMessage(), e, WRONG_USAGE);
        }
    }

    private static String token(Path file) throws Failure {
        String token;
        try {
            token = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        } catch (NoSuchFileException e) {
            throw new Failure("the token file " + file + " does not exist", e);
        } catch (IOException e) {
            throw new Failure("cannot read the token file " + file + ": "
                    + (e instanceof AccessDeniedException
                            ? "permission denied"
                            : Errors.message(e)),
                    e);
        }
        if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < DELETE)) {
            throw new Failure("the token file " + file + " must hold one line of ASCII characters"
                    + " without spaces");
        }
        return token;
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
                UNREACHABLE);
    }

    private static Candidate only(List<Candidate> found) throws Failure {
        if (found.isEmpty()) {
            throw new Failure("no server of this user is running; start one with 'lunar serve',"
                    + " or name its socket with --socket", null, UNREACHABLE);
        }
        if (found.size() > 1) {
            throw wrongUsage(found.size() + " servers are running: choose one with --socket: "
                    + String.join(", ", found.stream().map(Candidate::toString).toList()));
        }
        return answering(found.getFirst());
    }

    private static Candidate answering(Candidate one) throws Failure {
        if (one.answers()) {
            return one;
        }
        throw new Failure(one.silence() + ": it was stopped or hangs; see its log", null,
                UNREACHABLE);
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
