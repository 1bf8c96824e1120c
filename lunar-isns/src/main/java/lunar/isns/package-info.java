/**
 * The client side of iSNS, the Internet Storage Name Service (RFC 4171), over TCP: {@link lunar.isns.IsnsRegistrar}
 * keeps a server's targets registered at a name server, {@link lunar.isns.IsnsDiscovery} queries one for targets.
 *
 * <p>Inside: a {@code Message} is a list of {@code Attribute}s and goes as one or several PDUs; {@code MessageCodec}
 * and {@code MessageAssembler} do no I/O. {@code IsnsConnection} is a socket with its reader. The name server is
 * treated as hostile: every length is checked before memory is allocated, every response has a timeout, and it cannot
 * block the targets.
 *
 * <p>Visibility: iSNS has no lists of initiators. A name server shows a registered target to every node that shares a
 * Discovery Domain with it, whether or not the node may log in there; visibility is configured at the name server.
 *
 * <p>Threading: the public types are thread-safe.
 */
@NullMarked
package lunar.isns;

import org.jspecify.annotations.NullMarked;
