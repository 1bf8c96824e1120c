package lunar.initiator.multipath;

import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.primary.TargetPortGroups;

/**
 * Receives the events of a unit and its paths; all methods but one are optional. Called for one event at a time, in
 * order of occurrence, on a virtual thread that may block. The unit is not blocked meanwhile, so a path may be up again
 * when its loss is delivered. All events are delivered before {@link MultipathDevice#close} returns. A listener that is
 * thousands of events behind loses some.
 */
@FunctionalInterface
public interface PathListener {
    /** Called when the state of a path or its access state has changed, or a login has failed once more. */
    void changed(PathEvent event);

    /** Called when the target reports another access state of a path's port (ALUA, SPC-5 section 5.18). */
    default void accessChanged(Path path, TargetPortGroups.State before,
            TargetPortGroups.State after) {}

    /** Called when the target has redirected the login of a path (RFC 7143 section 11.13.5): its session is there. */
    default void redirected(Path path, TargetAddress to) {}

    /**
     * Called when a path is lost, or a login has failed, with the time of the next login.
     *
     * @param waitMs when, from now: as the target requests, and as backoff demands
     * @param why what went wrong
     */
    default void retrying(Path path, long waitMs, Exception why) {}

    /**
     * Called when no path can be used, and requests wait for one; only for the first request.
     *
     * @param unit the device of all paths, a {@link MultipathDevice}
     */
    default void held(BlockDevice unit) {}

    /** Called when no path could be used for too long, and requests fail; only for the first request. */
    default void gaveUp(BlockDevice unit, DeviceGoneException why) {}

    /**
     * Called when a path can be used again, after {@link #held} or {@link #gaveUp}.
     *
     * @param outageMs for how long requests could not be sent
     */
    default void resumed(BlockDevice unit, long outageMs) {}
}
