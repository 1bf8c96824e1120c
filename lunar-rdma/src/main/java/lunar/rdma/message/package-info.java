/**
 * RDMA connections with blocking calls: {@link lunar.rdma.message.Messenger} sends and receives messages, reads and
 * writes memory of the peer, and waits for the completion of each; {@link lunar.rdma.message.MessageListener} accepts
 * connections. For programs with few connections and a thread for each; event loops use {@link lunar.rdma.Endpoint}.
 *
 * <p>The caller chooses how messages get from the Java heap to registered memory and back; the variants have the names
 * of Javia-I:
 *
 * <table>
 * <caption>Variants of sends and receives</caption>
 * <tr><th>variant</th><th>send</th><th>receive</th></tr>
 * <tr><td>copy</td><td>{@code send(byte[])} copies to a registered slice</td>
 *     <td>{@code receive(byte[], timeout)} copies to the caller's array</td></tr>
 * <tr><td>copy+alloc</td><td></td><td>{@code receive(timeout)} copies to a new array</td></tr>
 * <tr><td>zero-copy</td><td>{@code send(RegisteredMemory)}</td><td>{@code receiveMessage(timeout)}</td></tr>
 * <tr><td>pin</td><td>{@code sendPinned(MemorySegment)} registers memory for one send</td><td></td></tr>
 * </table>
 *
 * <pre>{@code
 * try (ProtectionDomain domain = Rdma.device("libfabric:tcp").open();
 *         Messenger peer = Messenger.connect(domain, address, MessengerOptions.DEFAULT, new byte[0])) {
 *     peer.send("hello".getBytes(UTF_8));
 *     byte[] answer = peer.receive(1000);
 * }
 * }</pre>
 */
@NullMarked
package lunar.rdma.message;

import org.jspecify.annotations.NullMarked;
