package lunar.osd.wire.page;

import java.util.OptionalInt;
import lunar.osd.wire.attribute.AttributeId;

/**
 * An attribute that the OSD standard defines. Number 0 of every page, which identifies the page, is not listed; see
 * {@link PageIdentification}. Values are unsigned numbers, most significant byte first; times have six bytes and count
 * milliseconds since 1970, capacities and lengths count bytes.
 */
public sealed interface StandardAttribute permits RootAttribute, PartitionAttribute,
        CollectionAttribute, UserObjectAttribute, CurrentCommandAttribute {
    /** Length of values that varies, or depends on the version. */
    int VARIES = -1;

    /** Page and number. */
    AttributeId id();

    /** Bytes of a value, if the attribute is set; empty if the length varies or depends on the version. */
    OptionalInt length();

    /** The length of values, unless it is {@link #VARIES}. */
    static OptionalInt known(int length) {
        return length == VARIES ? OptionalInt.empty() : OptionalInt.of(length);
    }
}
