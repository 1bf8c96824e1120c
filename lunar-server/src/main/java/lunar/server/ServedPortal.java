package lunar.server;

import java.net.InetSocketAddress;
import lunar.iscsi.spi.Transports;

/**
 * Where a server listens, and how.
 *
 * @param transport scheme of the transport
 * @param address with the real port
 */
public record ServedPortal(String transport, InetSocketAddress address) {
    /** Returns {@code HOST:PORT}, after the scheme where that is not TCP's. */
    @Override
    public String toString() {
        String host = address.getAddress().getHostAddress();
        String place = (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
        return transport.equals(Transports.ISCSI) ? place : transport + "://" + place;
    }
}
