/**
 * Messages of iSER (RFC 7145 section 9) and the private data of connections: bytes in, values out; no I/O.
 * {@link lunar.iser.wire.IserHeader} is the header before each PDU, {@link lunar.iser.wire.ReceivedMessage} takes a
 * received message apart, {@link lunar.iser.wire.ConnectData} is what both ends tell each other as they connect.
 */
@NullMarked
package lunar.iser.wire;

import org.jspecify.annotations.NullMarked;
