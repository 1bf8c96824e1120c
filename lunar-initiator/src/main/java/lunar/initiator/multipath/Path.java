package lunar.initiator.multipath;

import lunar.iscsi.text.TargetAddress;
import lunar.scsi.primary.TargetPortGroups;

/** A path to a logical unit, for use by a {@link PathPolicy} or a {@link PathListener}. Thread-safe. */
public interface Path {
    /** State of a path. */
    enum State {
        /** A login is in progress, or due after a pause. */
        CONNECTING,
        /** Takes requests. */
        UP,
        /** Logged in, and the unit is not to be used here now: see {@link Path#access}. */
        PASSIVE,
        /** Leads to another logical unit than the others, and is not tried again. */
        FOREIGN,
        /** Closed for good. */
        CLOSED
    }

    /** Returns the portal of its options; after a redirection the session is at another one. */
    TargetAddress portal();

    /** Returns its index among the paths of its device, from 0 on. */
    int index();

    State state();

    /** Returns the port group's access state (ALUA, SPC-5 section 5.18); ACTIVE_OPTIMIZED where none is reported. */
    TargetPortGroups.State access();

    /** Returns the number of requests in flight. */
    int inFlight();

    /** Returns a moving average of the time of a request, in nanoseconds; 0 before the first. */
    long serviceNanos();

    /** Returns the number of requests that have succeeded. */
    long completed();

    /** Returns how often its session was lost, or a login failed. */
    long failures();
}
