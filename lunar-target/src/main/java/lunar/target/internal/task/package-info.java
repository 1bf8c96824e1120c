/**
 * SCSI commands of a target's sessions, from their PDUs to their responses; not exported.
 *
 * <p>A {@code Task} is one command, in a {@code TaskState}. {@code ConnectionTasks} manages the tasks of a connection:
 * {@code CommandIntake} creates them, {@code DataOutPhase} receives their data, {@code Execution} passes them to their
 * device server. {@code SessionTasks} manages the tasks of all connections of a session, {@code TaskSets} their order.
 *
 * <p>A response passes {@code Task}, {@code SessionTasks}, {@code ResponseFence}, {@code ConnectionTasks} and
 * {@code ResponseSender} once each. READ and WRITE allocate nothing.
 *
 * <p>Threading: everything is confined to the thread of the session's event loop. Devices complete requests on any
 * thread; {@code Execution} then returns to the loop.
 *
 * <p>Accesses sessions and connections only through {@code TaskSession} and {@code TaskConnection}.
 */
@NullMarked
package lunar.target.internal.task;

import org.jspecify.annotations.NullMarked;
