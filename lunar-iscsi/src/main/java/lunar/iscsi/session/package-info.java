/**
 * The state of sessions and their connections (RFC 7143 sections 4.2.2 and 8).
 *
 * <ul>
 * <li>{@link lunar.iscsi.session.CommandWindow} and {@link lunar.iscsi.session.CommandNumbering}: CmdSN at the target
 * and at the initiator; {@link lunar.iscsi.session.StatusNumbering} and {@link lunar.iscsi.session.StatusReceiver}:
 * StatSN.
 * <li>{@link lunar.iscsi.session.ConnectionMachine} and {@link lunar.iscsi.session.SessionMachine}: the state machines
 * of RFC 7143 as pure functions from state and event to state and actions.
 * </ul>
 *
 * <p>Threading: one thread at a time; the machines have no state.
 */
@NullMarked
package lunar.iscsi.session;

import org.jspecify.annotations.NullMarked;
