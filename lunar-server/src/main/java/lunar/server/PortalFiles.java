package lunar.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;

/** Checks the PEM files of portals with TLS. */
final class PortalFiles {
    /** How long before its end a certificate is warned of. */
    private static final Duration NOTICE = Duration.ofDays(14);
    private static final String BEGIN = "-----BEGIN CERTIFICATE-----";

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
            var _ = Transports.credentials(portal.transport(), files);
            if (files.key().isPresent()) {
                check(files.key().get(), what, listener);
            }
            if (files.certificate().isPresent()) {
                problem(files.certificate().get(), Instant.now())
                        .ifPresent(problem -> listener.warned(what + problem, null));
            }
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

    /**
     * Returns what an operator should know about the validity of the first certificate of a file that the transport has
     * accepted: one line, or empty if it remains valid for a while.
     */
    static Optional<String> problem(Path file, Instant now) throws IOException {
        X509Certificate certificate;
        try {
            certificate = first(Files.readString(file, StandardCharsets.ISO_8859_1));
        } catch (CertificateException _) { // written in a way that only the transport can read
            return Optional.empty();
        }
        Instant begin = certificate.getNotBefore().toInstant();
        Instant end = certificate.getNotAfter().toInstant();
        String what = "the certificate in " + file;
        if (now.isBefore(begin)) {
            return Optional.of(what + " is not valid before " + begin + ": check the clock");
        }
        if (now.isAfter(end)) {
            return Optional.of(what + " expired on " + end + ": renew it");
        }
        return now.isAfter(end.minus(NOTICE))
                ? Optional.of(what + " expires on " + end + ": renew it")
                : Optional.empty();
    }

    /** The file may begin with the key. */
    private static X509Certificate first(String pem) throws CertificateException {
        byte[] chain = pem.substring(Math.max(0, pem.indexOf(BEGIN)))
                .getBytes(StandardCharsets.ISO_8859_1);
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(chain));
    }
}
