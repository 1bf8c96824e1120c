package lunar.osd.wire.command;

import java.util.Optional;

/** Isolation of a command from others that run at the same time (OSD-2). */
public enum Isolation {
    /** As the root attribute says. */
    DEFAULT(0), NONE(1), STRICT(2), RANGE(4), FUNCTIONAL(5), VENDOR_SPECIFIC(7);

    private final int code;

    Isolation(int code) { this.code = code; }

    /** ISOLATION on the wire. */
    public int code() { return code; }

    /** The isolation of a code. */
    public static Optional<Isolation> of(int code) {
        for (Isolation isolation : values()) {
            if (isolation.code == code) {
                return Optional.of(isolation);
            }
        }
        return Optional.empty();
    }
}
