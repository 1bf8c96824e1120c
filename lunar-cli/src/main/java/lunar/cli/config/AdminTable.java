package lunar.cli.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lunar.admin.TlsFiles;
import lunar.cli.command.Failure;
import lunar.cli.raid.control.ControlDirectory;

/**
 * The table {@code [admin]} of a config file: where the admin API listens.
 *
 * @param enabled whether there is an admin API at all
 * @param socket Unix socket; empty for one in the user's run directory
 * @param listen address of TCP
 * @param tokenFile file of the token that requests over TCP need
 * @param allowRemote whether other machines may reach that address
 * @param tls files of TLS; empty for TCP without it
 */
public record AdminTable(boolean enabled, Optional<Path> socket, Optional<Portal> listen,
        Optional<Path> tokenFile, boolean allowRemote, Optional<TlsFiles> tls) {
    /** Settings without a table. */
    public static final AdminTable DEFAULT = new AdminTable(true, Optional.empty(),
            Optional.empty(), Optional.empty(), false, Optional.empty());

    /** Settings of a server without an admin API. */
    public static final AdminTable NONE = new AdminTable(false, Optional.empty(),
            Optional.empty(), Optional.empty(), false, Optional.empty());

    /** Port of TCP where none is given. */
    public static final int DEFAULT_PORT = 9460;

    private static final int FILE_TYPE = 0xf000;
    private static final int SOCKET = 0xc000;

    static final Set<String> KEYS = Set.of("enabled", "socket", "listen", "token-file",
            "allow-remote", "certificate", "key", "client-ca");

    /** Reads the table of a file, if it has one. */
    static AdminTable read(TomlTable root) {
        Optional<TomlTable> table = root.table("admin");
        if (table.isEmpty()) {
            return DEFAULT;
        }
        TomlTable admin = table.get().requireKnown(KEYS, " of 'admin'").named("admin");
        if (admin.has("listen") && admin.lacks("token-file", KEYS)) {
            admin.wrong("listen", "'listen' needs a 'token-file': a file with a secret of at least"
                    + " 16 characters, which requests over TCP must have");
        }
        return new AdminTable(!admin.has("enabled") || admin.flag("enabled"),
                admin.parsed("socket", Path::of),
                admin.parsed("listen", text -> Portal.parse(text, DEFAULT_PORT)),
                admin.parsed("token-file", Path::of), admin.flag("allow-remote"), tls(admin));
    }

    private static Optional<TlsFiles> tls(TomlTable admin) {
        if (admin.has("certificate") && admin.lacks("key", KEYS)) {
            admin.wrong("certificate", "'certificate' needs a 'key': the file of its private key");
        }
        for (String key : List.of("key", "client-ca")) {
            if (admin.has(key) && admin.lacks("certificate", KEYS)) {
                admin.wrong(key, "'" + key + "' needs a 'certificate': the file of that of the"
                        + " server");
            }
        }
        Optional<Path> key = admin.parsed("key", Path::of);
        Optional<Path> clientCa = admin.parsed("client-ca", Path::of);
        return admin.parsed("certificate", Path::of)
                .flatMap(file -> key.map(secret -> new TlsFiles(file, secret, clientCa)));
    }

    /** Returns the table with another Unix socket. */
    public AdminTable withSocket(Path other) {
        return new AdminTable(true, Optional.of(other), listen, tokenFile, allowRemote, tls);
    }

    /** Whether the configuration says where to listen: then a server that cannot listen there does not start. */
    public boolean isExplicit() {
        return socket.isPresent() || listen.isPresent();
    }

    /**
     * Returns what a server would refuse at its start, as far as that is known without listening: messages by their
     * keys.
     */
    Map<String, String> errors() {
        var errors = new LinkedHashMap<String, String>();
        if (enabled) {
            socket.flatMap(AdminTable::error).ifPresent(error -> errors.put("socket", error));
            listen.filter(portal -> !allowRemote && isRemote(portal.host()))
                    .ifPresent(portal -> errors.put("listen", "other machines can reach the admin"
                            + " API at " + portal.host()
                            + (tls.isPresent() ? "" : ", and its token is not encrypted")
                            + ": listen on a loopback address, or set 'allow-remote = true' in"
                            + " [admin]"));
        }
        return errors;
    }

    /** @throws Failure with the first of the errors */
    public void requireValid() throws Failure {
        for (String error : errors().values()) {
            throw new Failure(error);
        }
    }

    private static Optional<String> error(Path socket) {
        if (!socket.isAbsolute()) {
            return Optional.of("the admin socket " + socket + " must be an absolute path: commands"
                    + " run in other directories than the server");
        }
        int bytes = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > ControlDirectory.MAX_PATH_BYTES) {
            return Optional.of("the path of the admin socket " + socket + " has more than "
                    + ControlDirectory.MAX_PATH_BYTES + " bytes; choose a shorter one");
        }
        try {
            int mode = (Integer) Files.getAttribute(socket, "unix:mode",
                    LinkOption.NOFOLLOW_LINKS);
            return (mode & FILE_TYPE) == SOCKET
                    ? Optional.empty()
                    : Optional.of("the admin socket " + socket + " exists and is not a socket;"
                            + " choose another path");
        } catch (IOException _) { // of one that does not exist, as usual
            return Optional.empty();
        }
    }

    private static boolean isRemote(String host) {
        try {
            return !InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException _) {
            return false; // another error
        }
    }
}
