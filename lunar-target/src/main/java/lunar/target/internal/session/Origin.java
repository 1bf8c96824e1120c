package lunar.target.internal.session;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * The origin of connections, for limits: an IPv4 address, or the first 64 bits of an IPv6 address, since one host can
 * have any number of addresses with the same prefix (RFC 4291 section 2.5.4).
 */
public record Origin(InetAddress address) {
    private static final int PREFIX_BYTES = 8;

    public static Origin of(InetAddress address) {
        if (!(address instanceof Inet6Address)) {
            return new Origin(address);
        }
        byte[] bytes = address.getAddress();
        Arrays.fill(bytes, PREFIX_BYTES, bytes.length, (byte) 0);
        try {
            return new Origin(InetAddress.getByAddress(bytes));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }

    @Override
    public String toString() {
        return address.getHostAddress() + (address instanceof Inet6Address ? "/64" : "");
    }
}
