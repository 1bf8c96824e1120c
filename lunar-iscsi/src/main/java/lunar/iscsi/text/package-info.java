/**
 * Texts of key=value pairs (RFC 7143 section 6.1): {@link lunar.iscsi.text.TextKeys} reads and writes them,
 * {@link lunar.iscsi.text.Key} has every key of the standards with its rules, {@link lunar.iscsi.text.TextAssembler}
 * joins texts that several PDUs carry. {@link lunar.iscsi.text.SendTargets} and
 * {@link lunar.iscsi.text.DiscoveredTarget} are request and response of discovery. {@link lunar.iscsi.text.PeerText}
 * escapes a peer's text for logs.
 */
@NullMarked
package lunar.iscsi.text;

import org.jspecify.annotations.NullMarked;
