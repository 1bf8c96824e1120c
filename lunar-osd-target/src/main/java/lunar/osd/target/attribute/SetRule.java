package lunar.osd.target.attribute;

import java.util.function.Predicate;
import lunar.osd.wire.attribute.Attribute;
import lunar.scsi.Bytes;

/**
 * Which values an attribute may be set to. No bytes delete it.
 *
 * @param when when it may be set
 * @param minLength fewest bytes
 * @param maxLength most bytes
 * @param deletable whether it may be deleted
 * @param values which values of these lengths
 */
record SetRule(When when, int minLength, int maxLength, boolean deletable,
        Predicate<Bytes> values) {
    enum When {
        ALWAYS, BY_FORMAT, NEVER, UNKNOWN
    }

    /** Only the device sets it. */
    static final SetRule READ_ONLY = new SetRule(When.NEVER, 0, 0, false);
    /** There is no such attribute. */
    static final SetRule UNKNOWN = new SetRule(When.UNKNOWN, 0, 0, false);
    /** Any value. */
    static final SetRule ANY = atMost(Attribute.MAX_LENGTH);

    private SetRule(When when, int minLength, int maxLength, boolean deletable) {
        this(when, minLength, maxLength, deletable, _ -> true);
    }

    static SetRule atMost(int length) { return new SetRule(When.ALWAYS, 0, length, true); }

    static SetRule exactly(int length) { return new SetRule(When.ALWAYS, length, length, true); }

    /** A number of as many bytes, not less than one number and not more than another. */
    static SetRule number(int length, long least, long most) {
        return new SetRule(When.ALWAYS, length, length, true, value -> {
            long number = Values.number(value);
            return number >= least && number <= most;
        });
    }

    /** A value that is always there. */
    static SetRule always(int length) {
        return new SetRule(When.ALWAYS, length, length, false);
    }

    /** Set by FORMAT OSD alone. */
    static SetRule byFormat(int maxLength) {
        return new SetRule(When.BY_FORMAT, 0, maxLength, true);
    }

    boolean permits(Bytes value) {
        int length = value.length();
        return length == 0
                ? deletable
                : length >= minLength && length <= maxLength && values.test(value);
    }
}
