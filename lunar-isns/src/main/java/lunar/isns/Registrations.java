package lunar.isns;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The requests that register an entity, change it and remove it (RFC 4171 sections 5.6.5.1 and 5.6.5.4). Each is sent
 * by a node of the entity, because a name server accepts changes from no other sender (section 5.6.1).
 */
final class Registrations {
    /**
     * Size beyond which a request is split. A message may be longer than a PDU, but some name servers cannot assemble
     * such messages.
     */
    private static final int MAX_REQUEST_BYTES = 32 << 10;

    private static final int ISCSI = 2;
    private static final int TARGET = 1;

    private Registrations() {}

    /**
     * Registers an entity. The first request optionally replaces an existing registration; further requests add nodes.
     *
     * @param entity identifier of the entity
     * @param periodSeconds registration period after which the name server drops a silent entity
     */
    static List<Message.Request> register(Registration wanted, String entity, boolean replace,
            int periodSeconds) {
        var requests = new ArrayList<Message.Request>();
        List<Attribute> head = head(wanted.nodes().getFirst().name(), entity);
        var batch = new ArrayList<>(head);
        batch.add(new Attribute.Numeric(Tags.ENTITY_PROTOCOL, ISCSI));
        batch.add(new Attribute.Numeric(Tags.REGISTRATION_PERIOD, periodSeconds));
        Set<StorageNode.Portal> portals = wanted.portals();
        portals.forEach(portal -> addPortal(batch, portal));
        for (StorageNode node : wanted.nodes()) {
            List<Attribute> more = node(node, portals);
            if (batch.stream().anyMatch(Registrations::isNode) && AttributeCodec.bytes(batch)
                    + AttributeCodec.bytes(more) > MAX_REQUEST_BYTES) {
                requests.add(Message.Request.of(Functions.DEV_ATTR_REG, batch));
                batch.clear();
                batch.addAll(head);
            }
            batch.addAll(more);
        }
        requests.add(Message.Request.of(Functions.DEV_ATTR_REG, batch));
        if (replace) {
            requests.set(0, requests.getFirst().replacing());
        }
        return requests;
    }

    /** The source, the key, and the entity that the objects after it belong to. */
    private static List<Attribute> head(String source, String entity) {
        var identifier = new Attribute.Text(Tags.ENTITY_IDENTIFIER, entity);
        return List.of(new Attribute.Text(Tags.NODE_NAME, source), identifier,
                Attribute.DELIMITER, identifier);
    }

    private static boolean isNode(Attribute attribute) { return attribute.tag() == Tags.NODE_TYPE; }

    /**
     * Returns a node with its portal groups: the tag, then the portals of the group (section 5.6.5.1). A portal without
     * the node gets a NULL tag, because the default tag is 1.
     */
    private static List<Attribute> node(StorageNode node, Set<StorageNode.Portal> all) {
        var attributes = new ArrayList<Attribute>();
        attributes.add(new Attribute.Text(Tags.NODE_NAME, node.name()));
        attributes.add(new Attribute.Numeric(Tags.NODE_TYPE, TARGET));
        attributes.add(node.alias().isEmpty()
                ? new Attribute.Empty(Tags.NODE_ALIAS)
                : new Attribute.Text(Tags.NODE_ALIAS, node.alias()));
        var groups = new LinkedHashMap<Attribute, List<StorageNode.Portal>>();
        for (StorageNode.Portal portal : all) {
            Integer tag = node.portals().get(portal);
            Attribute group = tag == null
                    ? new Attribute.Empty(Tags.GROUP_TAG)
                    : new Attribute.Numeric(Tags.GROUP_TAG, tag);
            groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(portal);
        }
        for (Map.Entry<Attribute, List<StorageNode.Portal>> group : groups.entrySet()) {
            attributes.add(group.getKey());
            for (StorageNode.Portal portal : group.getValue()) {
                attributes.add(new Attribute.Address(Tags.GROUP_ADDRESS, portal.address()));
                attributes.add(new Attribute.Numeric(Tags.GROUP_PORT, portal.port()));
            }
        }
        return attributes;
    }

    private static void addPortal(List<Attribute> to, StorageNode.Portal portal) {
        to.add(new Attribute.Address(Tags.PORTAL_ADDRESS, portal.address()));
        to.add(new Attribute.Numeric(Tags.PORTAL_PORT, portal.port())); // TCP: bit 15 is not set
    }

    /** Removes the nodes and portals that are not wanted any longer. None where there are none. */
    static List<Message.Request> removeAllBut(Registration wanted, Registration before,
            String source) {
        var objects = new ArrayList<Attribute>();
        for (StorageNode node : before.nodes()) {
            if (!wanted.has(node.name())) {
                objects.add(new Attribute.Text(Tags.NODE_NAME, node.name()));
            }
        }
        Set<StorageNode.Portal> kept = wanted.portals();
        before.portals().stream().filter(portal -> !kept.contains(portal))
                .forEach(portal -> addPortal(objects, portal));
        var requests = new ArrayList<Message.Request>();
        var batch = new ArrayList<Attribute>();
        for (Attribute object : objects) {
            // An address and its port stay together.
            if (object.tag() != Tags.PORTAL_PORT
                    && AttributeCodec.bytes(batch) > MAX_REQUEST_BYTES) {
                requests.add(remove(source, batch));
                batch.clear();
            }
            batch.add(object);
        }
        if (!batch.isEmpty()) {
            requests.add(remove(source, batch));
        }
        return requests;
    }

    /** Removes the portals and the nodes from whatever entities they are in: each node removes itself. */
    static List<Message.Request> takeOver(Registration wanted) {
        var requests = new ArrayList<Message.Request>();
        for (StorageNode node : wanted.nodes()) {
            var portals = new ArrayList<Attribute>();
            node.portals().keySet().forEach(portal -> addPortal(portals, portal));
            if (!portals.isEmpty()) {
                requests.add(remove(node.name(), portals));
            }
            requests.add(remove(node.name(),
                    List.of(new Attribute.Text(Tags.NODE_NAME, node.name()))));
        }
        return requests;
    }

    /** Removes the entity with all that belongs to it. */
    static Message.Request removeEntity(String source, String entity) {
        return remove(source, List.of(new Attribute.Text(Tags.ENTITY_IDENTIFIER, entity)));
    }

    private static Message.Request remove(String source, List<Attribute> objects) {
        var attributes = new ArrayList<Attribute>();
        attributes.add(new Attribute.Text(Tags.NODE_NAME, source));
        attributes.add(Attribute.DELIMITER);
        attributes.addAll(objects);
        return Message.Request.of(Functions.DEV_DEREG, attributes);
    }

    /**
     * Queries the entity of a node. The node itself is the sender, because visibility of others depends on Discovery
     * Domains. The query also renews the registration period (section 6.2.6).
     */
    static Message.Request whoseIs(String node) {
        var name = new Attribute.Text(Tags.NODE_NAME, node);
        return Message.Request.of(Functions.DEV_ATTR_QRY, List.of(name, name, Attribute.DELIMITER,
                new Attribute.Empty(Tags.ENTITY_IDENTIFIER)));
    }
}
