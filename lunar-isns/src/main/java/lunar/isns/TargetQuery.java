package lunar.isns;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Queries the targets visible to a node, and decodes the response (RFC 4171 section 5.6.5.2). The response lists each
 * target with its attributes, then its portals, each followed by its portal group, or all groups at the end.
 */
final class TargetQuery {
    private static final int TARGET = 1;
    private static final int PORT_BITS = 0xffff;
    private static final int DEFAULT_GROUP = 1;
    private static final int ISCSI_PORT = 3260;

    /** A target in the answer, if it is known yet. */
    private static final class Found {
        final String name;
        String alias = "";
        final Map<StorageNode.Portal, Integer> portals = new LinkedHashMap<>();

        Found(String name) { this.name = name; }

        StorageNode node() { return new StorageNode(name, alias, portals); }
    }

    private final Map<String, Found> found = new LinkedHashMap<>();
    private @Nullable Found current;
    private @Nullable InetAddress portalAddress;
    private @Nullable Found group;
    private @Nullable InetAddress groupAddress;
    private StorageNode.@Nullable Portal groupPortal;

    private TargetQuery() {}

    /** @param initiator name of the querying node; its Discovery Domains determine the result */
    static Message.Request request(String initiator) {
        var attributes = new ArrayList<Attribute>(
                List.of(new Attribute.Text(Tags.NODE_NAME, initiator),
                        new Attribute.Numeric(Tags.NODE_TYPE, TARGET), Attribute.DELIMITER));
        for (int tag : new int[]{Tags.NODE_NAME, Tags.NODE_ALIAS, Tags.PORTAL_ADDRESS,
                Tags.PORTAL_PORT, Tags.GROUP_NODE_NAME, Tags.GROUP_ADDRESS, Tags.GROUP_PORT,
                Tags.GROUP_TAG}) {
            attributes.add(new Attribute.Empty(tag));
        }
        return Message.Request.of(Functions.DEV_ATTR_QRY, attributes);
    }

    /** The targets of an answer, in its order. What is incomplete or none of ours is left out. */
    static List<StorageNode> targets(Message.Response answer) {
        var query = new TargetQuery();
        answer.operating().forEach(query::read);
        return query.found.values().stream().map(Found::node).toList();
    }

    private void read(Attribute attribute) {
        switch (attribute) {
            case Attribute.Text(int tag, String name) when tag == Tags.NODE_NAME -> {
                current = isName(name) ? found.computeIfAbsent(name, Found::new) : null;
                portalAddress = null;
            }
            case Attribute.Text(int tag, String alias) when tag == Tags.NODE_ALIAS -> {
                if (current != null) {
                    current.alias = alias;
                }
            }
            case Attribute.Address(int tag, InetAddress address) when tag == Tags.PORTAL_ADDRESS ->
                portalAddress = address;
            case Attribute.Numeric(int tag, int port) when tag == Tags.PORTAL_PORT -> {
                StorageNode.Portal portal = portal(portalAddress, port);
                if (current != null && portal != null) {
                    current.portals.putIfAbsent(portal, DEFAULT_GROUP);
                }
            }
            case Attribute.Text(int tag, String name) when tag == Tags.GROUP_NODE_NAME ->
                group = found.get(name);
            case Attribute.Address(int tag, InetAddress address) when tag == Tags.GROUP_ADDRESS ->
                groupAddress = address;
            case Attribute.Numeric(int tag, int port) when tag == Tags.GROUP_PORT ->
                groupPortal = portal(groupAddress, port);
            case Attribute.Numeric(int tag, int number) when tag == Tags.GROUP_TAG -> {
                if (group != null && groupPortal != null) {
                    group.portals.put(groupPortal, number & PORT_BITS);
                }
            }
            case Attribute.Empty(int tag) when tag == Tags.GROUP_TAG -> { // not there at all
                if (group != null && groupPortal != null) {
                    group.portals.remove(groupPortal);
                }
            }
            default -> {
            }
        }
    }

    /** Null for one that no initiator can connect to. Bits 0 to 15 of the number say whether it is UDP. */
    private static StorageNode.@Nullable Portal portal(@Nullable InetAddress address, int port) {
        if (address == null || address.isAnyLocalAddress() || (port & ~PORT_BITS) != 0) {
            return null;
        }
        // 0 is the port of the protocol (section 6.3.2).
        return new StorageNode.Portal(plain(address), port == 0 ? ISCSI_PORT : port);
    }

    /** Some write an IPv4 address as {@code ::10.0.0.1} instead of {@code ::ffff:10.0.0.1}. */
    private static InetAddress plain(InetAddress address) {
        if (!(address instanceof Inet6Address v6) || !v6.isIPv4CompatibleAddress()
                || v6.isLoopbackAddress()) {
            return address;
        }
        try {
            byte[] bytes = v6.getAddress();
            return InetAddress.getByAddress(Arrays.copyOfRange(bytes, 12, bytes.length));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an IPv4 address", e);
        }
    }

    /** Whether a name is safe on a terminal; the login says whether it is a target. */
    private static boolean isName(String name) {
        return !name.isEmpty() && name.codePoints()
                .noneMatch(c -> Character.isISOControl(c) || Character.isWhitespace(c));
    }
}
