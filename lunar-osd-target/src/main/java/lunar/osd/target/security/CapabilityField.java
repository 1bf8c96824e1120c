package lunar.osd.target.security;

import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.security.Capability;

/** Offsets of the fields of a capability in a CDB, for field pointers. */
final class CapabilityField {
    static final int FORMAT = Capability.AT;
    static final int KEYS = 81;
    static final int METHOD = 82;
    static final int EXPIRATION = 84;
    static final int CREATED = 122;
    static final int OBJECT_TYPE = Capability.OBJECT_TYPE_IN_CDB;
    static final int PERMISSIONS = 129;
    static final int DESCRIPTOR_TYPE = 135;
    /** OSD-2. */
    static final int ATTRIBUTES_ACCESS = 136;
    /** OSD-2. */
    static final int BOOT_EPOCH = 144;
    /** OSD-2. */
    static final int RANGE_LENGTH = 168;

    private CapabilityField() {}

    static int tag(OsdVersion version) { return version == OsdVersion.OSD_2 ? 140 : 136; }

    static int partition(OsdVersion version) { return version == OsdVersion.OSD_2 ? 152 : 140; }

    static int object(OsdVersion version) { return partition(version) + 8; }
}
