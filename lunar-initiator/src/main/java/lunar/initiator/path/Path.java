package lunar.initiator.path;

import lunar.iscsi.TargetAddress;
import lunar.scsi.TargetPortGroups;

/** One way to a logical unit, as a {@link PathPolicy} and a {@link PathListener} see it. Thread-safe. */
public interface Path {
    /** What a path is good for. */
    enum State {
        /** A login is under way, or waits for its time. */
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

    /** The portal that was given for it; after a redirection the session is at another one. */
    TargetAddress portal();

    /** Its place among the paths of its device, from 0 on. */
    int index();

    State state();

    /** What the target says of the port group (ALUA, SPC-5 section 5.18); ACTIVE_OPTIMIZED where it says nothing. */
    TargetPortGroups.State access();

    /** Requests on their way here. */
    int inFlight();

    /** Moving average of the time of a request, in nanoseconds; 0 before the first. */
    long serviceNanos();

    /** Requests that have ended well here. */
    long completed();

    /** How often it was lost, or a login failed. */
    long failures();
}
