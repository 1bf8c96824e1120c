package lunar.osd.s3.signature;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/**
 * Decides whether a request without a signature is permitted. A web page must not use the rights that its reader has by
 * being on this machine or network: its requests have an Origin header; or they have the name of the page's own server
 * as Host, if the page lets that name resolve to this server (DNS rebinding). Thread-safe.
 */
public final class AnonymousRequests {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");
    private static final Pattern ADDRESS = Pattern
            .compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:.]+(%[\\w.-]+)?]");
    private static final int SHOWN_CHARACTERS = 80;

    private final boolean allowed;
    private final Set<String> names = new HashSet<>();
    private final AtomicBoolean logged = new AtomicBoolean();

    private AnonymousRequests(boolean allowed, Collection<String> names) {
        this.allowed = allowed;
        names.forEach(name -> this.names.add(name.toLowerCase(Locale.ROOT)));
    }

    /** Permits no request. */
    public static AnonymousRequests refused() {
        return new AnonymousRequests(false, List.of());
    }

    /**
     * Permits requests from programs.
     *
     * @param names names of this server, which requests may have as Host besides addresses; so may their subdomains
     */
    public static AnonymousRequests allowed(Collection<String> names) {
        return new AnonymousRequests(true, names);
    }

    void check(RequestHead head) throws S3Exception {
        if (!allowed || head.header("origin").isPresent()) {
            throw new S3Exception(S3Error.ACCESS_DENIED);
        }
        List<String> hosts = head.headers().getOrDefault("host", List.of());
        if (hosts.size() != 1 || !isOurs(hosts.getFirst())) {
            if (logged.compareAndSet(false, true)) {
                LOG.log(System.Logger.Level.WARNING,
                        "request without a signature refused: its Host "
                                + shown(hosts)
                                + " is no name of this server; if it should be, add it with"
                                + " --domain (later refusals are not logged)");
            }
            throw new S3Exception(S3Error.ACCESS_DENIED,
                    "The Host of the request is no name of this server.");
        }
    }

    private boolean isOurs(String host) {
        String name = host.strip().toLowerCase(Locale.ROOT).replaceFirst(":\\d*$", "");
        if (ADDRESS.matcher(name).matches()) {
            return true;
        }
        String rest = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        while (!names.contains(rest)) {
            int dot = rest.indexOf('.');
            if (dot < 0) {
                return false;
            }
            rest = rest.substring(dot + 1);
        }
        return true;
    }

    private static String shown(List<String> hosts) {
        String text = hosts.toString().replaceAll("[^\\x20-\\x7e]", "?");
        return text.length() > SHOWN_CHARACTERS
                ? text.substring(0, SHOWN_CHARACTERS) + "..."
                : text;
    }
}
