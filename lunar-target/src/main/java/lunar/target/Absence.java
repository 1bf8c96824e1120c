package lunar.target;

import lunar.iscsi.text.TargetAddress;

/** The reason why no initiator can log in to a known target. Its existing sessions are asked to log out. */
public sealed interface Absence {
    /**
     * The target is elsewhere: a login is redirected (RFC 7143 sections 4.2.7 and 11.13.5).
     *
     * @param to the new address
     * @param permanent whether initiators should keep the new address
     */
    record Moved(TargetAddress to, boolean permanent) implements Absence {}

    /** The target will be back: a login is answered with "service unavailable". */
    record Maintenance() implements Absence {}

    /** The target will not be back: a login is answered with "target removed". */
    record Removed() implements Absence {}
}
