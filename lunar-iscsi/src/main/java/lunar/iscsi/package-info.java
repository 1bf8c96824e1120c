/**
 * The iSCSI protocol core (RFC 7143): PDUs, framing, text negotiation, CHAP, serial numbers, sequencing, and the
 * connection and session state machines. Bytes and time go in, actions come out; nothing here opens a socket,
 * reads a clock or starts a thread.
 *
 * <p>Threading: nothing here is thread-safe unless it says so; a connection's state belongs to its event loop.
 */
@NullMarked
package lunar.iscsi;

import org.jspecify.annotations.NullMarked;
