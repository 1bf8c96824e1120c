/**
 * The engine of a session. {@link lunar.initiator.internal.session.SessionEngine} creates its parts and is used by
 * other packages, with {@link lunar.initiator.internal.session.Command} and
 * {@link lunar.initiator.internal.session.Tasks} for commands that allocate nothing. From the bottom up:
 *
 * <ul>
 * <li>a command in progress: {@code Command}, its pool, queue and slots, {@code CommandSender},
 * {@code CompletionDispatcher};
 * <li>{@code Connection}, in its {@code LoginPhase} and then in {@code FullFeature};
 * <li>{@code Tasks}: all commands of the session; {@code Allegiance} for those that get no response;
 * <li>{@code PendingRequests}: requests other than commands;
 * <li>{@code Connections} with {@code Reassignment}: connections, their recovery and their tasks;
 * <li>{@code Control}: the clock and the target's messages; {@code Exchanges}: the tasks of callers.
 * </ul>
 *
 * <p>Threading: any thread submits commands, under the session's only lock, which {@code Tasks} owns; all else is
 * confined to the session's event loop. The lock is never held while foreign code runs.
 */
@NullMarked
package lunar.initiator.internal.session;

import org.jspecify.annotations.NullMarked;
