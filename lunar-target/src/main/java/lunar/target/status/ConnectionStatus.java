package lunar.target.status;

import java.net.InetSocketAddress;

/**
 * A connection of a session.
 *
 * @param cid its CID
 * @param transport scheme of its transport, such as {@code iscsi}
 * @param initiator address of the initiator
 * @param portal address at which the initiator reached the target
 */
public record ConnectionStatus(int cid, String transport, InetSocketAddress initiator,
        InetSocketAddress portal) {}
