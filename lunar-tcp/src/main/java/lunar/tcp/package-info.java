/**
 * TCP as a {@link lunar.iscsi.spi.Transport}: one thread per {@link lunar.loop.EventSourceLoop}, many connections on
 * each. PDUs of one read are decoded together, and their responses are sent by one gathering write.
 *
 * <p>On Linux, if {@code --enable-native-access=lunar.tcp} permits it, connections within one machine are not paced,
 * see {@link lunar.tcp.Pacing}.
 *
 * <p>With TLS, a {@link lunar.tcp.TlsLayer} is between a connection and its socket.
 *
 * <p>Threading: a connection is read by its loop's thread only; any thread may send, under the connection's lock.
 */
@NullMarked
package lunar.tcp;

import org.jspecify.annotations.NullMarked;
