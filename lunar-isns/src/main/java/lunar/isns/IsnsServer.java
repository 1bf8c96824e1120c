package lunar.isns;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * Address of a name server. The host name is resolved for each connection.
 *
 * @param host name or address, IPv6 without brackets
 * @param port TCP port
 */
public record IsnsServer(String host, int port) {
    /** The port of iSNS (RFC 4171 section 7.1). */
    public static final int DEFAULT_PORT = 3205;

    public IsnsServer {
        if (host.isEmpty() || port < 1 || port > 0xffff) {
            throw new IllegalArgumentException(
                    "invalid address of an iSNS server: " + host + " port "
                            + port);
        }
    }

    InetSocketAddress address() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    /** As a URI. */
    @Override
    public String toString() {
        return "isns://" + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
