/**
 * Access of the {@code lunar} command to RAID volumes: running ones through the socket of their process, stopped ones
 * by opening their members; and the output of their status, as JSON and as text.
 *
 * <p>{@link lunar.cli.raid.control.ControlHost} claims each volume that this process runs and serves its socket
 * ({@link lunar.cli.raid.control.ControlServer}); {@link lunar.cli.raid.ControlClient} is the client. The protocol is
 * lines of JSON.
 */
@NullMarked
package lunar.cli.raid.control;

import org.jspecify.annotations.NullMarked;
