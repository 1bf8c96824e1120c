package lunar.osd.target.attribute;

import lunar.osd.wire.attribute.Attribute;

/**
 * Which values an attribute may be set to. No bytes delete it.
 *
 * @param when when it may be set
 * @param minLength fewest bytes
 * @param maxLength most bytes
 * @param deletable whether it may be deleted
 */
record SetRule(When when, int minLength, int maxLength, boolean deletable) {
    enum When {
        ALWAYS, BY_FORMAT, NEVER, UNKNOWN
    }

    /** Only the device sets it. */
    static final SetRule READ_ONLY = new SetRule(When.NEVER, 0, 0, false);
    /** There is no such attribute. */
    static final SetRule UNKNOWN = new SetRule(When.UNKNOWN, 0, 0, false);
    /** Any value. */
    static final SetRule ANY = atMost(Attribute.MAX_LENGTH);

    static SetRule atMost(int length) { return new SetRule(When.ALWAYS, 0, length, true); }

    static SetRule exactly(int length) { return new SetRule(When.ALWAYS, length, length, true); }

    /** A value that is always there. */
    static SetRule always(int length) {
        return new SetRule(When.ALWAYS, length, length, false);
    }

    /** Set by FORMAT OSD alone. */
    static SetRule byFormat(int maxLength) {
        return new SetRule(When.BY_FORMAT, 0, maxLength, true);
    }

    boolean permits(int length) {
        return length == 0 ? deletable : length >= minLength && length <= maxLength;
    }
}
