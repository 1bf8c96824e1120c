/**
 * How the {@code lunar} command reaches RAID volumes: those that run in some process of this machine by a socket of the
 * file system, others by opening their members; and how a volume is told, as JSON and as a picture.
 *
 * <p>{@link lunar.cli.raid.control.ControlHost} claims each volume that this process runs and answers on its socket
 * ({@link lunar.cli.raid.control.ControlServer}); {@link lunar.cli.raid.ControlClient} asks. Both speak lines of JSON.
 */
@NullMarked
package lunar.cli.raid.control;

import org.jspecify.annotations.NullMarked;
