/**
 * The data of commands (RFC 7143 sections 4.2.5.2, 11.7 and 11.8): {@link lunar.iscsi.transfer.WriteTransfer} and
 * {@link lunar.iscsi.transfer.DataInPlan} at the target, {@link lunar.iscsi.transfer.DataOutPlan} and {@link
 * lunar.iscsi.transfer.DataInReceiver} at the initiator. {@link lunar.iscsi.transfer.BurstRules} are the negotiated
 * limits.
 *
 * <p>Threading: one thread at a time.
 */
@NullMarked
package lunar.iscsi.transfer;

import org.jspecify.annotations.NullMarked;
