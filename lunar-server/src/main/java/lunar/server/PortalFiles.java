package lunar.server;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;

/** Checks the PEM files of portals with TLS. */
final class PortalFiles {
    /** How long before its end a certificate is warned of. */
    private static final Duration NOTICE = Duration.ofDays(14);

    private PortalFiles() {}

    /** Checks the portals of a plan one after the other, up to the first whose files are wrong. */
    static void check(ServerPlan plan, ServerListener listener) throws InvalidPlanException {
        for (ServerPlan.Listen portal : plan.portals()) {
            check(portal, listener);
        }
    }

    /**
     * Refuses files that cannot be used, and keys that other users could have written; warns of keys that they can
     * read, and of a certificate that is not valid now or expires soon.
     *
     * @throws InvalidPlanException with one line for a person
     */
    static void check(ServerPlan.Listen portal, ServerListener listener)
            throws InvalidPlanException {
        if (!portal.transport().equals(Transports.ISCSIS)) {
            return;
        }
        String what = "portal " + text(portal) + ": ";
        TlsFiles files = portal.tls();
        try {
            TransportProvider.Credentials read = Transports.credentials(portal.transport(), files);
            if (files.key().isPresent()) {
                check(files.key().get(), what, listener);
            }
            read.problem(Instant.now(), NOTICE)
                    .ifPresent(problem -> listener.warned(what + problem, null));
        } catch (IOException e) {
            throw new InvalidPlanException(what + e.getMessage(), e);
        }
    }

    private static String text(ServerPlan.Listen portal) {
        String host = portal.host();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + portal.port();
    }

    private static void check(Path key, String what, ServerListener listener)
            throws IOException, InvalidPlanException {
        try {
            CredentialFiles.requirePrivate(key, what + "key file " + key, listener);
        } catch (NoSuchFileException e) {
            throw new InvalidPlanException(what + key + " does not exist", e);
        }
    }
}
