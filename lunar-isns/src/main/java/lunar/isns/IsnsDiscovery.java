package lunar.isns;

import java.io.IOException;
import java.util.List;

/** Discovers targets at a name server. */
public final class IsnsDiscovery {
    private IsnsDiscovery() {}

    /**
     * Returns the targets visible to an initiator, with their portals. Blocks.
     *
     * @param initiator iSCSI name of the querying node, whose Discovery Domains determine the result. Some name servers
     *        answer only registered nodes
     * @throws IsnsException.Refused if the name server rejects the query
     * @throws IOException if the name server cannot be reached, or its response is invalid
     */
    public static List<StorageNode> targets(IsnsServer server, String initiator, IsnsTiming timing)
            throws IOException {
        try (var connection = new IsnsConnection(server, timing, () -> {})) {
            connection.open();
            return TargetQuery.targets(connection.exchange(TargetQuery.request(initiator)));
        }
    }
}
