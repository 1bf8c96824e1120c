/**
 * Login and negotiation (RFC 7143 chapters 6, 12 and 13) as pure functions of the peer's messages.
 *
 * <ul>
 * <li>{@link lunar.iscsi.login.InitiatorLogin} and {@link lunar.iscsi.login.TargetLogin}: the two ends of a login. An
 * {@link lunar.iscsi.login.Offer} holds the values that an end proposes,
 * {@link lunar.iscsi.login.OperationalParameters} the negotiated values; {@link lunar.iscsi.login.LoginPolicy} admits
 * initiators at a target.
 * <li>{@link lunar.iscsi.login.ChapPolicy}, {@link lunar.iscsi.login.ChapCredentials}, {@link
 * lunar.iscsi.login.Secret}: authentication.
 * <li>{@link lunar.iscsi.login.InitiatorText} and {@link lunar.iscsi.login.TargetText}: text negotiation in the full
 * feature phase.
 * </ul>
 *
 * <p>Threading: one thread at a time.
 */
@NullMarked
package lunar.iscsi.login;

import org.jspecify.annotations.NullMarked;
