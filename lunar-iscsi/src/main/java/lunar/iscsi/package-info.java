/**
 * The iSCSI protocol core (RFC 7143). Bytes and time go in, actions come out; nothing below opens a socket, reads a
 * clock or starts a thread. This package contains what all others use: the exceptions below
 * {@link lunar.iscsi.IscsiException}, the login status, and serial number arithmetic.
 *
 * <ul>
 * <li>{@code lunar.iscsi.pdu}: headers of PDUs as values, and in place.
 * <li>{@code lunar.iscsi.framing}: from a byte stream to PDUs, with digests.
 * <li>{@code lunar.iscsi.text}: key=value texts.
 * <li>{@code lunar.iscsi.login}: login and negotiation at both ends, CHAP.
 * <li>{@code lunar.iscsi.session}: numbering, and the state machines of connections and sessions.
 * <li>{@code lunar.iscsi.transfer}: which data a command sends and receives.
 * <li>{@code lunar.iscsi.spi}: the interface of transports.
 * </ul>
 *
 * <p>Threading: nothing here is thread-safe unless it says so; a connection's state belongs to its event loop.
 */
@NullMarked
package lunar.iscsi;

import org.jspecify.annotations.NullMarked;
