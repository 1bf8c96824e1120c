package lunar.isns;

import java.io.IOException;
import java.util.List;

/** Finds targets at a name server. */
public final class IsnsDiscovery {
    private IsnsDiscovery() {}

    /**
     * Returns the targets that an initiator may see, and where they are. Blocks.
     *
     * @param initiator iSCSI name of the node that asks: its Discovery Domains determine what it may see. Some name
     *        servers answer only nodes that are registered
     * @throws IsnsException.Refused when the name server refuses to answer
     * @throws IOException when there is no name server, or its answer is invalid
     */
    public static List<StorageNode> targets(IsnsServer server, String initiator, IsnsTiming timing)
            throws IOException {
        try (var connection = new IsnsConnection(server, timing, () -> {})) {
            connection.open();
            return TargetQuery.targets(connection.exchange(TargetQuery.request(initiator)));
        }
    }
}
