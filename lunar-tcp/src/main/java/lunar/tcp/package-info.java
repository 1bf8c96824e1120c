/**
 * TCP as a {@link lunar.iscsi.spi.Transport}: one thread per {@link lunar.loop.EventSourceLoop}, many connections on
 * each. What one read brings is decoded together, what it caused is answered with one gathering write.
 *
 * <p>On Linux, where {@code --enable-native-access=lunar.tcp} allows it, connections within one machine are not paced,
 * see {@link lunar.tcp.Pacing}.
 *
 * <p>Threading: a connection is read by its loop's thread only; any thread may send, under the connection's lock.
 */
@NullMarked
package lunar.tcp;

import org.jspecify.annotations.NullMarked;
