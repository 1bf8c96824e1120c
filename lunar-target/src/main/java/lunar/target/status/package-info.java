/**
 * What a running {@link lunar.target.TargetServer} tells operators: snapshots of its sessions
 * ({@link lunar.target.status.SessionStatus}) and of the commands of units and sessions
 * ({@link lunar.target.status.CommandCounts}). All types are immutable. Reading them does not disturb the threads that
 * serve commands.
 */
@NullMarked
package lunar.target.status;

import org.jspecify.annotations.NullMarked;
