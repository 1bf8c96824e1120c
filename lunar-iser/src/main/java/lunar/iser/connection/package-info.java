/**
 * An iSER connection: {@link lunar.iser.connection.IserTransport} is its life cycle, and
 * {@link lunar.iser.connection.PduExchange} translates PDUs to messages and RDMA operations, and back.
 * {@link lunar.iser.connection.SendQueue} posts the operations, {@link lunar.iser.connection.Receives} posts the
 * buffers for received messages. {@link lunar.iser.connection.ExposedCommands} tracks the buffers that an initiator
 * advertises, and {@link lunar.iser.connection.RemoteCommands} tracks the advertised buffers at the target.
 *
 * <p><b>Threads.</b> Any thread may send. The <i>home</i> loop, which polls the completion queue of the endpoint,
 * handles completions. The <i>owner</i> loop delivers PDUs; it is the home loop unless the connection has joined a
 * session that runs on another loop.
 */
@NullMarked
package lunar.iser.connection;

import org.jspecify.annotations.NullMarked;
