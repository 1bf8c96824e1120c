package lunar.osd.wire;

import java.util.Optional;

/** Versions of the OSD command set, which differ in layouts; the service action of a CDB tells which one it has. */
public enum OsdVersion {
    /** INCITS 400-2004. */
    OSD_1(200, 80, 20),
    /** INCITS 458-2011. */
    OSD_2(236, 104, 32);

    private static final int FIRST_OSD_1 = 0x8800;
    private static final int FIRST_OSD_2 = 0x8880;
    private static final int LAST = 0x88ff;

    private final int cdbLength;
    private final int capabilityLength;
    private final int integrityLength;

    OsdVersion(int cdbLength, int capabilityLength, int integrityLength) {
        this.cdbLength = cdbLength;
        this.capabilityLength = capabilityLength;
        this.integrityLength = integrityLength;
    }

    /** Bytes of a CDB. */
    public int cdbLength() { return cdbLength; }

    /** Bytes of the capability in a CDB. */
    public int capabilityLength() {
        return capabilityLength;
    }

    /** Bytes of an integrity check value. */
    public int integrityLength() {
        return integrityLength;
    }

    /** The version that a service action belongs to, whether it is defined or not; empty for those of no version. */
    public static Optional<OsdVersion> ofServiceAction(int code) {
        if (code >= FIRST_OSD_1 && code < FIRST_OSD_2) {
            return Optional.of(OSD_1);
        }
        if (code >= FIRST_OSD_2 && code <= LAST) {
            return Optional.of(OSD_2);
        }
        return switch (code) {
            case ServiceAction.PERFORM_SCSI_COMMAND_1, ServiceAction.PERFORM_TASK_MANAGEMENT_1 ->
                Optional
                        .of(OSD_1);
            case ServiceAction.PERFORM_SCSI_COMMAND_2, ServiceAction.PERFORM_TASK_MANAGEMENT_2 ->
                Optional
                        .of(OSD_2);
            default -> Optional.empty();
        };
    }
}
