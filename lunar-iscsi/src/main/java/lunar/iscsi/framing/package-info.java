/**
 * PDUs in a byte stream (RFC 7143 section 11.2), for transports.
 *
 * <ul>
 * <li>{@link lunar.iscsi.framing.PduReader} splits received bytes into PDUs, checks their digests, and hands them to a
 * {@link lunar.iscsi.framing.PduReceiver}; {@link lunar.iscsi.framing.Framing} holds the negotiated parameters.
 * <li>{@link lunar.iscsi.framing.DirectMemory} and {@link lunar.iscsi.framing.BufferViews}: native memory that channels
 * read and write without a copy.
 * </ul>
 *
 * <p>Threading: a reader belongs to the loop of its connection.
 */
@NullMarked
package lunar.iscsi.framing;

import org.jspecify.annotations.NullMarked;
