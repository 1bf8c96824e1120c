package lunar.osd.wire.command;

import java.util.Optional;

/** Which key of the hierarchy SET KEY sets. */
public enum KeyLevel {
    ROOT(1), PARTITION(2), WORKING(3);

    private final int code;

    KeyLevel(int code) { this.code = code; }

    /** KEY TO SET on the wire. */
    public int code() { return code; }

    /** The level of a code. */
    public static Optional<KeyLevel> of(int code) {
        for (KeyLevel level : values()) {
            if (level.code == code) {
                return Optional.of(level);
            }
        }
        return Optional.empty();
    }
}
