package lunar.iser.connection;

import java.io.IOException;
import lunar.iscsi.framing.PduReceiver;

/** A received message or fetched data, waiting for delivery by the owner loop of the connection. */
interface Arrival {
    /** Delivers it to the receiver of the connection. */
    void deliver(PduReceiver to) throws IOException;

    /** Discards it, since the connection has ended. */
    void drop();
}
