package lunar.osd.wire;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Service actions: the commands, all of which have operation code 7Fh. Most have the code 8800h + n in OSD-1 and
 * 8880h + n in OSD-2.
 *
 * <p>Commands without {@link #hasLayout()} are named by the standard, but the layout of their fields is not known here;
 * a target answers INVALID COMMAND OPERATION CODE.
 */
public enum ServiceAction {
    OBJECT_STRUCTURE_CHECK(0x00, Since.OSD_2),
    FORMAT_OSD(0x01, Since.OSD_1),
    CREATE(0x02, Since.OSD_1),
    LIST(0x03, Since.OSD_1),
    PUNCH(0x04, Since.OSD_2),
    READ(0x05, Since.OSD_1),
    WRITE(0x06, Since.OSD_1),
    APPEND(0x07, Since.OSD_1),
    FLUSH(0x08, Since.OSD_1),
    CLEAR(0x09, Since.OSD_2),
    REMOVE(0x0a, Since.OSD_1),
    CREATE_PARTITION(0x0b, Since.OSD_1),
    REMOVE_PARTITION(0x0c, Since.OSD_1),
    GET_ATTRIBUTES(0x0e, Since.OSD_1),
    SET_ATTRIBUTES(0x0f, Since.OSD_1),
    CREATE_AND_WRITE(0x12, Since.OSD_1),
    COPY_USER_OBJECTS(0x13, Since.OSD_2_WITHOUT_LAYOUT),
    CREATE_USER_TRACKING_COLLECTION(0x14, Since.OSD_2),
    CREATE_COLLECTION(0x15, Since.OSD_1),
    REMOVE_COLLECTION(0x16, Since.OSD_1),
    LIST_COLLECTION(0x17, Since.OSD_1),
    SET_KEY(0x18, Since.OSD_1),
    SET_MASTER_KEY(0x19, Since.OSD_1),
    FLUSH_COLLECTION(0x1a, Since.OSD_1),
    FLUSH_PARTITION(0x1b, Since.OSD_1),
    FLUSH_OSD(0x1c, Since.OSD_1),
    QUERY(0x20, Since.OSD_2),
    REMOVE_MEMBER_OBJECTS(0x21, Since.OSD_2),
    GET_MEMBER_ATTRIBUTES(0x22, Since.OSD_2),
    SET_MEMBER_ATTRIBUTES(0x23, Since.OSD_2),
    CREATE_CLONE(0x28, Since.OSD_2_WITHOUT_LAYOUT),
    CREATE_SNAPSHOT(0x29, Since.OSD_2_WITHOUT_LAYOUT),
    DETACH_CLONE(0x2a, Since.OSD_2_WITHOUT_LAYOUT),
    REFRESH_SNAPSHOT_OR_CLONE(0x2b, Since.OSD_2_WITHOUT_LAYOUT),
    RESTORE_PARTITION_FROM_SNAPSHOT(0x2c, Since.OSD_2_WITHOUT_LAYOUT),
    READ_MAP(0x31, Since.OSD_2),
    READ_MAPS_AND_COMPARE(0x32, Since.OSD_2_WITHOUT_LAYOUT),
    PERFORM_SCSI_COMMAND(ServiceAction.PERFORM_SCSI_COMMAND_1,
            ServiceAction.PERFORM_SCSI_COMMAND_2, true),
    PERFORM_TASK_MANAGEMENT_FUNCTION(ServiceAction.PERFORM_TASK_MANAGEMENT_1,
            ServiceAction.PERFORM_TASK_MANAGEMENT_2, true);

    private enum Since {
        OSD_1, OSD_2, OSD_2_WITHOUT_LAYOUT
    }

    static final int PERFORM_SCSI_COMMAND_1 = 0x8f7e;
    static final int PERFORM_TASK_MANAGEMENT_1 = 0x8f7f;
    static final int PERFORM_SCSI_COMMAND_2 = 0x8f7c;
    static final int PERFORM_TASK_MANAGEMENT_2 = 0x8f7d;

    private static final int NONE = -1;
    private static final Map<Integer, ServiceAction> BY_CODE = new HashMap<>();

    static {
        for (ServiceAction action : values()) {
            if (action.osd1 != NONE) {
                BY_CODE.put(action.osd1, action);
            }
            BY_CODE.put(action.osd2, action);
        }
    }

    private final int osd1;
    private final int osd2;
    private final boolean layout;

    ServiceAction(int number, Since since) {
        this(since == Since.OSD_1 ? 0x8800 + number : NONE, 0x8880 + number,
                since != Since.OSD_2_WITHOUT_LAYOUT);
    }

    ServiceAction(int osd1, int osd2, boolean layout) {
        this.osd1 = osd1;
        this.osd2 = osd2;
        this.layout = layout;
    }

    /** The service action of a code, of either version; empty for codes that are reserved or vendor specific. */
    public static Optional<ServiceAction> of(int code) {
        return Optional.ofNullable(BY_CODE.get(code));
    }

    /** Whether a version has this command. */
    public boolean isIn(OsdVersion version) {
        return version == OsdVersion.OSD_2 || osd1 != NONE;
    }

    /** Whether the layout of its CDB is known. */
    public boolean hasLayout() { return layout; }

    /**
     * The code in a version.
     *
     * @throws IllegalArgumentException if the version does not have this command
     */
    public int code(OsdVersion version) {
        if (!isIn(version)) {
            throw new IllegalArgumentException(this + " is not in " + version);
        }
        return version == OsdVersion.OSD_2 ? osd2 : osd1;
    }

    /** The name that the standard uses. */
    @Override
    public String toString() { return name().replace('_', ' '); }
}
