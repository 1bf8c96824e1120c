package lunar.target;

import lunar.iscsi.TargetAddress;

/** Why nobody can log in to a target here, though its name is known. Sessions that there are, are asked to log out. */
public sealed interface Absence {
    /**
     * It is elsewhere: a login is redirected (RFC 7143 sections 4.2.7 and 11.13.5).
     *
     * @param to where
     * @param permanent whether initiators should keep the new address
     */
    record Moved(TargetAddress to, boolean permanent) implements Absence {}

    /** It will be back: a login is answered with "service unavailable". */
    record Maintenance() implements Absence {}

    /** It will not: a login is answered with "target removed". */
    record Removed() implements Absence {}
}
