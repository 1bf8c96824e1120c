package lunar.initiator.multipath;

import java.util.Optional;

/**
 * A change of a path.
 *
 * @param path the path
 * @param before the previous state
 * @param after the current state; equal to the previous one if a login failed again, or only {@link Path#access} has
 *        changed
 * @param why cause of a failure; empty unless the path failed
 */
public record PathEvent(Path path, Path.State before, Path.State after, Optional<Exception> why) {}
