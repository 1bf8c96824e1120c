package lunar.iser.connection;

import java.io.IOException;
import lunar.iscsi.framing.PduReceiver;

/** Something that has come from the peer, and is delivered by the owner of the connection. */
interface Arrival {
    /** Passes it to the receiver of the connection. */
    void deliver(PduReceiver to) throws IOException;

    /** Gives it up; the connection has ended. */
    void drop();
}
