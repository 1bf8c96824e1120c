package lunar.osd.wire;

import java.util.Optional;

/** Types of objects. */
public enum ObjectType {
    /** The device itself. */
    ROOT(0x01), PARTITION(0x02), COLLECTION(0x40), USER_OBJECT(0x80);

    private final int code;

    ObjectType(int code) { this.code = code; }

    /** OBJECT TYPE on the wire. */
    public int code() { return code; }

    /** The type of a code. */
    public static Optional<ObjectType> of(int code) {
        for (ObjectType type : values()) {
            if (type.code == code) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
