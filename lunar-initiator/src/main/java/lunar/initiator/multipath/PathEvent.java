package lunar.initiator.multipath;

import org.jspecify.annotations.Nullable;

/**
 * A change of a path.
 *
 * @param path the path
 * @param before its state before
 * @param after its state now; the same as before where a login failed once more, or only {@link Path#access} is new
 * @param why what went wrong, or null
 */
public record PathEvent(Path path, Path.State before, Path.State after, @Nullable Exception why) {}
