package lunar.initiator.multipath;

import java.util.Optional;

/**
 * A change of a path.
 *
 * @param path the path
 * @param before its state before
 * @param after its state now; the same as before where a login failed once more, or only {@link Path#access} is new
 * @param why why the path failed; empty unless it did
 */
public record PathEvent(Path path, Path.State before, Path.State after, Optional<Exception> why) {}
