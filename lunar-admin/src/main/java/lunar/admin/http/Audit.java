package lunar.admin.http;

import io.helidon.webserver.http.ServerRequest;
import java.net.InetSocketAddress;
import lunar.admin.report.SessionReport;

/** Logs the changes that requests make, and those that are refused, with where each request came from. */
final class Audit {
    private static final System.Logger LOG = System.getLogger("lunar.audit");

    private final String origin;

    private Audit(String origin) { this.origin = origin; }

    /**
     * Returns the log for a request. Called while its connection is open, because the address of a closed connection is
     * unknown. Only the user of the server, and root, can use the Unix socket.
     */
    static Audit of(ServerRequest request) {
        return new Audit(request.remotePeer().address() instanceof InetSocketAddress from
                ? "from " + SessionReport.address(from)
                : "over the Unix socket");
    }

    /** @param what the change, or that it was not made and why; printable and without secrets */
    void log(String what) {
        LOG.log(System.Logger.Level.INFO, "admin: {0}; requested {1}", what, origin);
    }
}
