package lunar.osd.s3;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;

/**
 * Options of a server. Immutable; its text has no secrets.
 *
 * @param address address to listen on; port 0 selects a free port
 * @param keys secrets by access keys
 * @param allowAnonymous whether requests without a signature are permitted
 * @param domains names of the server whose subdomains are buckets; a request without a signature must have one of them,
 *        the host of the address, or an address as its Host
 * @param flushes whether what was acknowledged is on stable storage
 */
public record S3Options(InetSocketAddress address, Map<String, String> keys,
        boolean allowAnonymous, List<String> domains, boolean flushes) {
    /** Port 9000 of the loopback address, no keys, nothing anonymous, durable. */
    public static final S3Options DEFAULT = new S3Options(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 9000), Map.of(), false,
            List.of("localhost"), true);

    public S3Options {
        keys = Map.copyOf(keys);
        domains = List.copyOf(domains);
    }

    /** Returns a copy with another address. */
    public S3Options withAddress(InetSocketAddress value) {
        return new S3Options(value, keys, allowAnonymous, domains, flushes);
    }

    /** Returns a copy with other secrets by access keys. */
    public S3Options withKeys(Map<String, String> value) {
        return new S3Options(address, value, allowAnonymous, domains, flushes);
    }

    /** Returns a copy that permits requests without a signature, or does not. */
    public S3Options withAnonymous(boolean value) {
        return new S3Options(address, keys, value, domains, flushes);
    }

    /** Returns a copy with other names of the server. */
    public S3Options withDomains(List<String> value) {
        return new S3Options(address, keys, allowAnonymous, value, flushes);
    }

    /** Returns a copy that makes everything stable before it is acknowledged, or leaves that to the device. */
    public S3Options withFlushes(boolean value) {
        return new S3Options(address, keys, allowAnonymous, domains, value);
    }

    @Override
    public String toString() {
        return "S3Options[address=" + address + ", " + keys.size() + " keys, allowAnonymous="
                + allowAnonymous + ", domains=" + domains + ", flushes=" + flushes + ']';
    }
}
