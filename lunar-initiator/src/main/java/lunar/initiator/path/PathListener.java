package lunar.initiator.path;

import lunar.block.DeviceGoneException;
import lunar.iscsi.TargetAddress;
import lunar.scsi.TargetPortGroups;

/**
 * Hears what happens to a unit and its paths; each method but one may be left out. Called for one event after the
 * other, in the order in which they came, on a virtual thread that may block: what happens goes on meanwhile, so a path
 * may be up again when its loss is told. Before {@link MultipathDevice#close} returns all has been told. A listener
 * that is thousands of events behind misses some.
 */
@FunctionalInterface
public interface PathListener {
    /** A path is in another state, or in another access state, or a login has failed once more. */
    void changed(PathEvent event);

    /** The target says that a path's port is in another access state for the unit (ALUA, SPC-5 section 5.18). */
    default void accessChanged(Path path, TargetPortGroups.State before,
            TargetPortGroups.State after) {}

    /** The target has sent the login of a path elsewhere (RFC 7143 section 11.13.5): its session is there now. */
    default void redirected(Path path, TargetAddress to) {}

    /**
     * A path is lost, or a login has failed: the next one is due.
     *
     * @param waitMs when, from now: what the target asks for, and what keeps failures from coming fast
     * @param why what went wrong
     */
    default void retrying(Path path, long waitMs, Exception why) {}

    /** No path can be used, and requests wait for one. Told for the first of them. */
    default void held(MultipathDevice unit) {}

    /** No path could be used for too long, and requests fail. Told for the first of them. */
    default void gaveUp(MultipathDevice unit, DeviceGoneException why) {}

    /**
     * A path can be used again, after {@link #held} or {@link #gaveUp}.
     *
     * @param outageMs for how long requests could not be sent
     */
    default void resumed(MultipathDevice unit, long outageMs) {}
}
