/**
 * Encoding and decoding of iSER messages (RFC 7145 section 9) and of the private data of connection requests; no I/O.
 * {@link lunar.iser.wire.IserHeader} is the header before each PDU, {@link lunar.iser.wire.ReceivedMessage} decodes a
 * received message, {@link lunar.iser.wire.Hello} and {@link lunar.iser.wire.HelloReply} are the messages of the
 * optional handshake, and {@link lunar.iser.wire.ConnectData} announces what both ends support as they connect.
 *
 * <p><b>Threads.</b> Records are immutable; everything else is for one thread at a time.
 */
@NullMarked
package lunar.iser.wire;

import org.jspecify.annotations.NullMarked;
