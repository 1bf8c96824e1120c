package lunar.cli.admin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import lunar.admin.client.AdminClient;
import lunar.admin.client.ClientTls;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.config.AdminTable;
import lunar.cli.config.Portal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of commands that ask a server over TCP, with TLS or without. */
final class TcpOptions {
    private static final String TLS = "https://";
    private static final int DELETE = 0x7f;

    @Option(names = "--address", paramLabel = "[https://]HOST:PORT",
            description = "Ask over TCP, with https:// over TLS; needs --token-file.")
    private @Nullable String address;

    @Option(names = "--token-file", paramLabel = "FILE",
            description = "File with the token of --address.")
    private @Nullable Path tokenFile;

    @Option(names = "--ca", paramLabel = "FILE",
            description = "CAs that the certificate of the server must come from (PEM)."
                    + " Default: those that Java trusts.")
    private @Nullable Path ca;

    @Option(names = "--certificate", paramLabel = "FILE",
            description = "Certificate of the client (PEM), if the server requires one.")
    private @Nullable Path certificate;

    @Option(names = "--key", paramLabel = "FILE",
            description = "Private key of --certificate (PEM, PKCS#8).")
    private @Nullable Path key;

    /** Returns the address; null if another way is wanted. */
    @Nullable
    String address() { return address; }

    /** Returns a client of the server at the address; empty without one. */
    Optional<AdminClient> client() throws IOException, Failure {
        boolean isTls = address != null && address.regionMatches(true, 0, TLS, 0, TLS.length());
        if (!isTls && Stream.of(ca, certificate, key).anyMatch(Objects::nonNull)) {
            throw ServerAddress.wrongUsage("--ca, --certificate and --key need TLS:"
                    + " --address https://HOST:PORT");
        }
        if ((certificate == null) != (key == null)) {
            throw ServerAddress.wrongUsage("--certificate and --key need each other");
        }
        if (address == null) {
            if (tokenFile != null) {
                throw ServerAddress.wrongUsage("--token-file needs --address HOST:PORT");
            }
            return Optional.empty();
        }
        if (tokenFile == null) {
            throw ServerAddress
                    .wrongUsage("--address needs --token-file FILE: the token of the server");
        }
        Portal portal = portal(isTls ? address.substring(TLS.length()) : address);
        String token = token(tokenFile);
        return Optional.of(isTls
                ? AdminClient.of(portal.resolve(), token, tls())
                : AdminClient.of(portal.resolve(), token));
    }

    private static Portal portal(String text) throws Failure {
        try {
            return Portal.parse(text.endsWith("/") ? text.substring(0, text.length() - 1) : text,
                    AdminTable.DEFAULT_PORT);
        } catch (IllegalArgumentException e) {
            throw ServerAddress.wrongUsage("--address: " + e.getMessage());
        }
    }

    private ClientTls tls() throws IOException {
        Optional<Path> trusted = Optional.ofNullable(ca);
        return certificate == null || key == null
                ? ClientTls.trusting(trusted)
                : ClientTls.trusting(trusted, certificate, key);
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
}
