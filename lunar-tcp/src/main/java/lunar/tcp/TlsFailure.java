package lunar.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import lunar.iscsi.ProtocolException;
import org.jspecify.annotations.Nullable;

/** Describes failures of TLS in one line for an operator. */
final class TlsFailure {
    private static final Pattern ALERT = Pattern.compile("Received fatal alert: (\\w+)");
    private static final Pattern CODE = Pattern.compile("^\\(\\w+\\) ");
    private static final Pattern OTHER_HOST = Pattern
            .compile("^No (subject alternative|name matching) ");

    private static final String WITHOUT_TLS = "write iscsi: instead of iscsis:";

    private TlsFailure() {}

    /**
     * Returns the failure of a handshake.
     *
     * @param opener whether this end opened the connection
     */
    static IOException ofHandshake(InetSocketAddress peer, boolean opener, IOException cause) {
        String reason;
        if (cause instanceof EOFException) {
            reason = "the peer closed the connection"
                    + (opener ? "; if the portal has no TLS, " + WITHOUT_TLS : "");
        } else if (message(cause).contains("nrecognized SSL message")) {
            reason = opener
                    ? "the portal does not use TLS; " + WITHOUT_TLS
                    : "the initiator does not use TLS; it must connect with iscsis: or through a"
                            + " TLS proxy";
        } else {
            reason = reason(cause);
        }
        return new IOException("TLS handshake with " + text(peer) + " failed: " + reason, cause);
    }

    /**
     * Returns the failure of a connection that the peer has closed inside a PDU.
     *
     * @param isAlert whether a TLS alert was received instead of a response to a login
     */
    static IOException insidePdu(InetSocketAddress peer, boolean isAlert) {
        return isAlert
                ? new ProtocolException(peer + " uses TLS; write iscsis: instead of iscsi:")
                : new EOFException(peer + " closed the connection inside a PDU");
    }

    /** Describes a TLS failure after the handshake; returns any other exception unchanged. */
    static IOException ofConnection(InetSocketAddress peer, IOException cause) {
        return cause instanceof SSLException
                ? new IOException("TLS with " + text(peer) + " failed: " + reason(cause), cause)
                : cause;
    }

    private static String text(InetSocketAddress peer) {
        String host = peer.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + peer.getPort();
    }

    private static String message(IOException cause) { return String.valueOf(cause.getMessage()); }

    private static String reason(IOException cause) {
        String message = message(cause);
        Matcher alert = ALERT.matcher(message);
        if (alert.find()) {
            return refusal(alert.group(1));
        }
        if (message.contains("Empty client certificate chain")) {
            return "the peer has no certificate, which client-ca requires";
        }
        String untrusted = untrusted(cause);
        if (untrusted != null) {
            return untrusted;
        }
        String text = CODE.matcher(message).replaceFirst("").replaceAll("\\s+", " ");
        return OTHER_HOST.matcher(text).find()
                ? text.replaceFirst("\\.$", "") + "; connect by a name in the certificate, or issue"
                        + " one with this name or address as subjectAltName"
                : text;
    }

    /** Returns why the chain of the peer's certificate is not trusted; null for another failure. */
    private static @Nullable String untrusted(IOException cause) {
        CertPathValidatorException path = null;
        for (Throwable each = cause; each != null; each = each.getCause()) {
            switch (each) {
                case CertPathValidatorException e -> path = e;
                case CertificateExpiredException _ -> {
                    return expired(path);
                }
                case CertificateNotYetValidException _ -> {
                    return notYetValid(path);
                }
                case CertPathBuilderException _ -> {
                    return "no trusted CA has issued the peer's certificate; add that CA's"
                            + " certificate, or the peer's own, to the file of tls-ca"
                            + " (at a portal: client-ca)";
                }
                default -> {
                }
            }
        }
        return null;
    }

    private static String expired(@Nullable CertPathValidatorException path) {
        X509Certificate certificate = certificate(path);
        return owner(path) + (certificate == null
                ? " has expired"
                : " expired on " + certificate.getNotAfter().toInstant())
                + "; renew it, or check this machine's clock";
    }

    private static String notYetValid(@Nullable CertPathValidatorException path) {
        X509Certificate certificate = certificate(path);
        return owner(path) + (certificate == null
                ? " is not yet valid"
                : " is not valid before " + certificate.getNotBefore().toInstant())
                + "; check this machine's clock";
    }

    private static String owner(@Nullable CertPathValidatorException path) {
        if (certificate(path) == null || path == null) {
            return "the peer's certificate, or that of a CA that issued it,";
        }
        return path.getIndex() == 0
                ? "the peer's certificate"
                : "the certificate of a CA that issued the peer's";
    }

    /** Returns the certificate at which the validation of a path failed; null if that is not known. */
    private static @Nullable X509Certificate certificate(
            @Nullable CertPathValidatorException path) {
        if (path == null || path.getCertPath() == null || path.getIndex() < 0) {
            return null;
        }
        List<? extends Certificate> certificates = path.getCertPath().getCertificates();
        return certificates.get(path.getIndex()) instanceof X509Certificate failed ? failed : null;
    }

    private static String refusal(String alert) {
        return "the peer refused with alert " + alert + switch (alert) {
            case "certificate_required" -> "; it requires a certificate of this end"
                    + " (tls-certificate and tls-key)";
            case "certificate_expired" -> "; the certificate of this end has expired; renew it, or"
                    + " check the peer's clock";
            case "protocol_version" -> "; both ends must support TLS 1.3";
            case "bad_certificate", "unknown_ca", "certificate_unknown" ->
                "; it does not accept the certificate of this end";
            default -> "";
        };
    }
}
