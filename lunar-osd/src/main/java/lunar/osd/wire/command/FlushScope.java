package lunar.osd.wire.command;

import java.util.Optional;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;

/** Parts of an object that a FLUSH command brings to stable storage. */
public enum FlushScope {
    /** FLUSH: data and attributes of the user object. */
    DATA_AND_ATTRIBUTES(0, true),
    /** FLUSH COLLECTION, PARTITION, OSD: the list of members. */
    MEMBERS(0, false),
    /** FLUSH: attributes of the user object. */
    ATTRIBUTES(1, true),
    /** FLUSH COLLECTION, PARTITION, OSD: its own attributes. */
    OWN_ATTRIBUTES(1, false),
    /** FLUSH: a range of the data, and the attributes; OSD-2. */
    RANGE_AND_ATTRIBUTES(2, true),
    /** FLUSH COLLECTION, PARTITION, OSD: everything in it. */
    ALL(2, false);

    private final int code;
    private final boolean ofUserObject;

    FlushScope(int code, boolean ofUserObject) {
        this.code = code;
        this.ofUserObject = ofUserObject;
    }

    /** FLUSH SCOPE on the wire. */
    public int code() { return code; }

    /** Whether a command of a version has this scope. */
    boolean isOf(ServiceAction action, OsdVersion version) {
        return ofUserObject == (action == ServiceAction.FLUSH)
                && (this != RANGE_AND_ATTRIBUTES || version == OsdVersion.OSD_2);
    }

    static Optional<FlushScope> of(int code, ServiceAction action, OsdVersion version) {
        for (FlushScope scope : values()) {
            if (scope.code == code && scope.isOf(action, version)) {
                return Optional.of(scope);
            }
        }
        return Optional.empty();
    }
}
