package lunar.isns;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Registration of a server: a Network Entity with its nodes (RFC 4171 section 6.2). Immutable.
 *
 * @param entity Entity Identifier, unique to the server and stable across restarts, at most 255 bytes
 * @param nodes its targets, each name once
 */
public record Registration(String entity, List<StorageNode> nodes) {
    public Registration {
        Attribute.requireText(Tags.ENTITY_IDENTIFIER, entity);
        nodes = List.copyOf(nodes);
        if (nodes.stream().map(StorageNode::name).distinct().count() < nodes.size()) {
            throw new IllegalArgumentException("node names must be unique");
        }
    }

    /** The portals of all nodes. */
    Set<StorageNode.Portal> portals() {
        var portals = new LinkedHashSet<StorageNode.Portal>();
        nodes.forEach(node -> portals.addAll(node.portals().keySet()));
        return portals;
    }

    /** Whether it has a node of this name. */
    boolean has(String name) {
        return nodes.stream().anyMatch(node -> node.name().equals(name));
    }
}
