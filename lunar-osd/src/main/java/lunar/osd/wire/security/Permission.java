package lunar.osd.wire.security;

import java.util.EnumSet;
import java.util.Set;

/** Permissions of a capability, as the bits of its two bytes of PERMISSIONS BIT MASK. */
public enum Permission {
    READ(0x8000),
    WRITE(0x4000),
    GET_ATTRIBUTES(0x2000),
    SET_ATTRIBUTES(0x1000),
    CREATE(0x0800),
    REMOVE(0x0400),
    OBJECT_MANAGEMENT(0x0200),
    APPEND(0x0100),
    DEVICE_MANAGEMENT(0x0080),
    GLOBAL(0x0040),
    POLICY_SECURITY(0x0020),
    /** M_OBJECT: commands for the members of a collection; OSD-2. */
    MULTI_OBJECT(0x0010),
    /** OSD-2. */
    QUERY(0x0008),
    /** GBL_REM; OSD-2. */
    GLOBAL_REMOVE(0x0004);

    private final int mask;

    Permission(int mask) { this.mask = mask; }

    /** The permissions of a mask; reserved bits are ignored. */
    static Set<Permission> ofMask(int bits) {
        var permissions = EnumSet.noneOf(Permission.class);
        for (Permission permission : values()) {
            if ((bits & permission.mask) != 0) {
                permissions.add(permission);
            }
        }
        return permissions;
    }

    static int mask(Set<Permission> permissions) {
        int bits = 0;
        for (Permission permission : permissions) {
            bits |= permission.mask;
        }
        return bits;
    }
}
