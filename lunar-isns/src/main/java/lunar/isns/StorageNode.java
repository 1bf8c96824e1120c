package lunar.isns;

import java.net.InetAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A target with its portals (RFC 4171 sections 6.4 and 6.5). Immutable.
 *
 * @param name iSCSI name, at most 223 bytes
 * @param alias name for display, may be empty
 * @param portals its portals, each with its portal group tag, 0 to 65535
 */
public record StorageNode(String name, String alias, Map<Portal, Integer> portals) {
    /**
     * An address where nodes are reached (section 6.3).
     *
     * @param address a concrete one
     * @param port TCP port
     */
    public record Portal(InetAddress address, int port) {
        public Portal {
            if (port < 1 || port > 0xffff || address.isAnyLocalAddress()) {
                throw new IllegalArgumentException("invalid portal address: " + address + " port "
                        + port);
            }
        }

        /** As in a URI. */
        @Override
        public String toString() {
            String host = address.getHostAddress();
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

    public StorageNode {
        Attribute.requireText(Tags.NODE_NAME, name);
        Attribute.requireText(Tags.NODE_ALIAS, alias);
        portals = Collections.unmodifiableMap(new LinkedHashMap<>(portals));
        for (int tag : portals.values()) {
            if (tag < 0 || tag > 0xffff) {
                throw new IllegalArgumentException("invalid portal group tag: " + tag);
            }
        }
    }
}
