/**
 * A connection of iSER: {@link lunar.iser.connection.IserTransport} turns PDUs into messages and RDMA operations, and
 * back. {@link lunar.iser.connection.SendQueue} posts them, {@link lunar.iser.connection.ExposedCommands} has the
 * buffers of an initiator's commands, {@link lunar.iser.connection.RemoteCommands} knows those of the peer at a target,
 * {@link lunar.iser.connection.Receives} has the buffers for messages that come.
 *
 * <p><b>Threads.</b> Any thread sends. Completions are handled by the <i>home</i> loop, which polls the completion
 * queue of the endpoint; PDUs are delivered by the <i>owner</i>, the same loop unless the connection has joined a
 * session of another one.
 */
@NullMarked
package lunar.iser.connection;

import org.jspecify.annotations.NullMarked;
