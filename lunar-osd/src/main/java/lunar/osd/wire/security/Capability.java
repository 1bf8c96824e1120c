package lunar.osd.wire.security;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * A capability: what a client may do with which object. Without security a target ignores it; it must not enforce the
 * object descriptor, because Linux sends OSD-2 capabilities with format 1 and only their first 80 bytes.
 *
 * <pre>
 *  0 format, low nibble               30 capability discriminator (12)
 *  1 key version, integrity algorithm 42 object created time (6)
 *  2 security method, low nibble      48 object type
 *  4 expiration time (6)              49 permissions (2)
 * 10 audit (20)                       55 object descriptor
 * </pre>
 *
 * @param format CAPABILITY FORMAT: 0 no capability, 1 OSD-1, 2 OSD-2
 * @param keyVersion number of the working key, four bits
 * @param integrityAlgorithm INTEGRITY CHECK VALUE ALGORITHM, four bits
 * @param securityMethod code of a {@link SecurityMethod}, four bits
 * @param expirationMs end of validity in milliseconds since 1970, 48 bits; 0 for none
 * @param audit 20 bytes of the security manager
 * @param discriminator 12 bytes that make the capability unique
 * @param objectCreatedMs time at which the object was created, 48 bits; 0 for any
 * @param objectType code of an {@link lunar.osd.wire.ObjectType}, eight bits
 * @param permissions what is allowed
 * @param object for which object
 */
public record Capability(int format, int keyVersion, int integrityAlgorithm, int securityMethod,
        long expirationMs, Bytes audit, Bytes discriminator, long objectCreatedMs, int objectType,
        Set<Permission> permissions, ObjectDescriptor object) {
    /** Offset of the capability in a CDB. */
    public static final int AT = 80;
    /** Offset of the object type in a CDB. */
    public static final int OBJECT_TYPE_IN_CDB = AT + 48;
    /** Bytes of the audit field. */
    public static final int AUDIT_LENGTH = 20;
    /** Bytes of the discriminator. */
    public static final int DISCRIMINATOR_LENGTH = 12;

    private static final int EXPIRATION_AT = 4;
    private static final int AUDIT_AT = 10;
    private static final int DISCRIMINATOR_AT = 30;
    private static final int CREATED_AT = 42;
    private static final int OBJECT_TYPE_AT = OBJECT_TYPE_IN_CDB - AT;
    private static final int PERMISSIONS_AT = 49;

    /** No capability: all bytes are zero. */
    public static final Capability NONE = unsecured(0, 0, Set.of(), ObjectDescriptor.NONE);

    public Capability {
        Fields.check("format", format, 0xf);
        Fields.check("keyVersion", keyVersion, 0xf);
        Fields.check("integrityAlgorithm", integrityAlgorithm, 0xf);
        Fields.check("securityMethod", securityMethod, 0xf);
        Fields.check("expirationMs", expirationMs, Fields.UINT48_MAX);
        Fields.checkLength("audit", audit, AUDIT_LENGTH);
        Fields.checkLength("discriminator", discriminator, DISCRIMINATOR_LENGTH);
        Fields.check("objectCreatedMs", objectCreatedMs, Fields.UINT48_MAX);
        Fields.check("objectType", objectType, 0xff);
        var copy = EnumSet.noneOf(Permission.class);
        copy.addAll(permissions);
        permissions = Collections.unmodifiableSet(copy);
    }

    /** A capability for NOSEC, valid for ever. */
    public static Capability unsecured(int format, int objectType, Set<Permission> permissions,
            ObjectDescriptor object) {
        return new Capability(format, 0, 0, SecurityMethod.NOSEC.code(), 0,
                Bytes.of(new byte[AUDIT_LENGTH]), Bytes.of(new byte[DISCRIMINATOR_LENGTH]), 0,
                objectType, permissions, object);
    }

    /** Returns the offset in a CDB of what follows the capability: the request integrity check value. */
    public static int end(OsdVersion version) {
        return AT + version.capabilityLength();
    }

    /** Whether the layout of a version has a place for everything that is set. */
    public boolean fits(OsdVersion version) {
        return version == OsdVersion.OSD_2 || object.fitsOsd1();
    }

    /** Reads a capability; never fails. The bytes must all be there. */
    public static Capability decode(MemorySegment bytes, OsdVersion version) {
        int keys = BigEndian.int8(bytes, 1);
        return new Capability(BigEndian.int8(bytes, 0) & 0xf, keys >> 4, keys & 0xf,
                BigEndian.int8(bytes, 2) & 0xf, Fields.int48(bytes, EXPIRATION_AT),
                Fields.bytes(bytes, AUDIT_AT, AUDIT_LENGTH),
                Fields.bytes(bytes, DISCRIMINATOR_AT, DISCRIMINATOR_LENGTH),
                Fields.int48(bytes, CREATED_AT), BigEndian.int8(bytes, OBJECT_TYPE_AT),
                Permission.ofMask(BigEndian.int16(bytes, PERMISSIONS_AT)),
                ObjectDescriptor.decode(bytes, version));
    }

    /** Writes all {@link OsdVersion#capabilityLength()} bytes. */
    public void encode(MemorySegment target, OsdVersion version) {
        target.asSlice(0, version.capabilityLength()).fill((byte) 0);
        BigEndian.int8(target, 0, format);
        BigEndian.int8(target, 1, keyVersion << 4 | integrityAlgorithm);
        BigEndian.int8(target, 2, securityMethod);
        Fields.int48(target, EXPIRATION_AT, expirationMs);
        Fields.bytes(target, AUDIT_AT, audit);
        Fields.bytes(target, DISCRIMINATOR_AT, discriminator);
        Fields.int48(target, CREATED_AT, objectCreatedMs);
        BigEndian.int8(target, OBJECT_TYPE_AT, objectType);
        BigEndian.int16(target, PERMISSIONS_AT, Permission.mask(permissions));
        object.encode(target, version);
    }

    /** Leaves out the audit value and the discriminator. */
    @Override
    public String toString() {
        return "Capability[format=" + format + ", keyVersion=" + keyVersion + ", securityMethod="
                + securityMethod + ", expirationMs=" + expirationMs + ", objectType=" + objectType
                + ", permissions=" + permissions + ", object=" + object + ']';
    }
}
