package lunar.osd.wire.data;

import java.util.Optional;

/** Types of ranges in a data map, and which of them READ MAP asks for. */
public enum MapType {
    /** All types; in a command only. */
    ALL(0x0000),
    WRITTEN_DATA(0x0001),
    DATA_HOLE(0x0002),
    DAMAGED_DATA(0x0003),
    /** Attributes that are damaged, not a range of data. */
    DAMAGED_ATTRIBUTES(0x8000);

    private final int code;

    MapType(int code) { this.code = code; }

    /** The code on the wire. */
    public int code() { return code; }

    /** The type of a code. */
    public static Optional<MapType> of(int code) {
        for (MapType type : values()) {
            if (type.code == code) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
