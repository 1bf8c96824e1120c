package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;

/**
 * The criteria of QUERY, in a descriptor of the CDB continuation segment.
 *
 * <pre>
 * 0 query type, low nibble   4 entries:
 *    2 entry length (2)   4 page   8 number   12 minimum length (2)   14 minimum, maximum length (2), maximum
 * </pre>
 *
 * <p>The entry length counts the bytes behind it. An entry length of 0 ends the list; other ones are not relied on,
 * because the lengths of the bounds say the same.
 *
 * @param all whether an object has to meet all criteria; else any of them
 * @param criteria the criteria
 */
public record QueryList(boolean all, List<Criterion> criteria) implements ContinuationDescriptor {
    /**
     * Bounds of an attribute, which are inclusive and compared as byte strings.
     *
     * @param id page and number
     * @param minimum no bytes for no bound
     * @param maximum no bytes for no bound; together at most {@link #MAX_BOUNDS} bytes
     */
    public record Criterion(AttributeId id, Bytes minimum, Bytes maximum) {
        /** Most bytes of both bounds, which the entry length counts. */
        public static final int MAX_BOUNDS = 0xffff - COUNTED;

        public Criterion {
            Fields.check("bytes of bounds", (long) minimum.length() + maximum.length(),
                    MAX_BOUNDS);
        }

        int length() { return MIN_ENTRY + minimum.length() + maximum.length(); }
    }

    private static final int HEADER_LENGTH = 4;
    private static final int TYPE_MASK = 0xf;
    private static final int TYPE_BIT = 3;
    private static final int ANY = 0;
    private static final int ALL = 1;
    /** Bytes up to the entry length. */
    private static final int UNCOUNTED = 4;
    /** Bytes of an entry without bounds. */
    private static final int MIN_ENTRY = 16;
    /** Bytes of an entry without bounds that its length counts. */
    private static final int COUNTED = MIN_ENTRY - UNCOUNTED;

    private static final int MINIMUM_LENGTH_AT = 12;
    private static final int MINIMUM_AT = 14;

    public QueryList {
        criteria = List.copyOf(criteria);
    }

    /**
     * Reads a list.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/00h for a query type that is not
     *         defined
     */
    public static QueryList decode(MemorySegment list) throws InvalidParameterListException {
        if (list.byteSize() < HEADER_LENGTH) {
            throw InvalidParameterListException.length();
        }
        int type = BigEndian.int8(list, 0) & TYPE_MASK;
        if (type != ANY && type != ALL) {
            throw InvalidParameterListException.field(0, TYPE_BIT);
        }
        var criteria = new ArrayList<Criterion>();
        long at = HEADER_LENGTH;
        while (at + UNCOUNTED <= list.byteSize() && BigEndian.int16(list, at + 2) != 0) {
            Criterion criterion = criterion(list, at);
            criteria.add(criterion);
            at += criterion.length();
        }
        return new QueryList(type == ALL, criteria);
    }

    private static Criterion criterion(MemorySegment list, long at)
            throws InvalidParameterListException {
        long available = list.byteSize() - at;
        if (available < MIN_ENTRY) {
            throw InvalidParameterListException.length();
        }
        int minimum = BigEndian.int16(list, at + MINIMUM_LENGTH_AT);
        if (available < MIN_ENTRY + minimum) {
            throw InvalidParameterListException.length();
        }
        long maximumLengthAt = at + MINIMUM_AT + minimum;
        int maximum = BigEndian.int16(list, maximumLengthAt);
        if (available < MIN_ENTRY + minimum + maximum
                || minimum + maximum > Criterion.MAX_BOUNDS) {
            throw InvalidParameterListException.length();
        }
        return new Criterion(new AttributeId(Fields.bits32(list, at + 4),
                Fields.bits32(list, at + 8)), Fields.bytes(list, at + MINIMUM_AT, minimum),
                Fields.bytes(list, maximumLengthAt + 2, maximum));
    }

    @Override
    public int type() { return TYPE_QUERY_LIST; }

    @Override
    public byte[] content() {
        int length = HEADER_LENGTH;
        for (Criterion criterion : criteria) {
            length = Math.addExact(length, criterion.length());
        }
        byte[] array = new byte[length];
        var list = MemorySegment.ofArray(array);
        BigEndian.int8(list, 0, all ? ALL : ANY);
        long at = HEADER_LENGTH;
        for (Criterion criterion : criteria) {
            int minimum = criterion.minimum().length();
            BigEndian.int16(list, at + 2, criterion.length() - UNCOUNTED);
            BigEndian.int32(list, at + 4, criterion.id().page());
            BigEndian.int32(list, at + 8, criterion.id().number());
            BigEndian.int16(list, at + MINIMUM_LENGTH_AT, minimum);
            Fields.bytes(list, at + MINIMUM_AT, criterion.minimum());
            BigEndian.int16(list, at + MINIMUM_AT + minimum, criterion.maximum().length());
            Fields.bytes(list, at + MIN_ENTRY + minimum, criterion.maximum());
            at += criterion.length();
        }
        return array;
    }
}
