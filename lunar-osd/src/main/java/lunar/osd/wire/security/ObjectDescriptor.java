package lunar.osd.wire.security;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.wire.BigEndian;

/**
 * The object descriptor of a capability: which object, attributes and bytes it allows access to.
 *
 * <pre>
 *         OSD-1   OSD-2   (offsets in the capability)
 *           55      55    object descriptor type, high nibble
 *            -      56    allowed attributes access
 *           56      60    policy access tag
 *            -      64    boot epoch
 *           60      72    allowed Partition_ID
 *           68      80    allowed object identifier
 *            -      88    allowed range length
 *            -      96    allowed range starting byte address
 * </pre>
 *
 * @param type OBJECT DESCRIPTOR TYPE, four bits
 * @param attributesAccess number of an attribute of the Partition Attributes Access page, unsigned 32 bits; OSD-2
 * @param policyAccessTag unsigned 32 bits
 * @param bootEpoch unsigned 16 bits; OSD-2
 * @param allowed partition and object
 * @param rangeLength bytes of the range; OSD-2
 * @param rangeStart first byte of the range; OSD-2
 */
public record ObjectDescriptor(int type, long attributesAccess, long policyAccessTag, int bootEpoch,
        ObjectId allowed, long rangeLength, long rangeStart) {
    /** The descriptor is ignored. */
    public static final int TYPE_NONE = 0;
    /** A user object; in OSD-1 also a collection. */
    public static final int TYPE_USER_OBJECT = 1;
    /** A partition or the root. */
    public static final int TYPE_PARTITION = 2;
    /** A collection; OSD-2. */
    public static final int TYPE_COLLECTION = 3;

    /** No object. */
    public static final ObjectDescriptor NONE = of(TYPE_NONE, ObjectId.ROOT);

    private static final int TYPE_AT = 55;
    private static final int ATTRIBUTES_ACCESS_AT = 56;
    private static final int BOOT_EPOCH_AT = 64;
    private static final int RANGE_LENGTH_AT = 88;
    private static final int RANGE_START_AT = 96;

    public ObjectDescriptor {
        Fields.check("type", type, 0xf);
        Fields.check("attributesAccess", attributesAccess, Fields.UINT32_MAX);
        Fields.check("policyAccessTag", policyAccessTag, Fields.UINT32_MAX);
        Fields.check("bootEpoch", bootEpoch, 0xffff);
    }

    /** A descriptor of all bytes and attributes of an object. */
    public static ObjectDescriptor of(int type, ObjectId allowed) {
        return new ObjectDescriptor(type, 0, 0, 0, allowed, 0, 0);
    }

    /** Whether an OSD-1 capability has a place for everything that is set. */
    boolean fitsOsd1() {
        return attributesAccess == 0 && bootEpoch == 0 && rangeLength == 0 && rangeStart == 0;
    }

    static ObjectDescriptor decode(MemorySegment capability, OsdVersion version) {
        boolean osd2 = version == OsdVersion.OSD_2;
        int allowedAt = allowedAt(version);
        return new ObjectDescriptor(BigEndian.int8(capability, TYPE_AT) >> 4,
                osd2 ? BigEndian.int32(capability, ATTRIBUTES_ACCESS_AT) : 0,
                BigEndian.int32(capability, tagAt(version)),
                osd2 ? BigEndian.int16(capability, BOOT_EPOCH_AT) : 0,
                new ObjectId(BigEndian.int64(capability, allowedAt),
                        BigEndian.int64(capability, allowedAt + 8)),
                osd2 ? BigEndian.int64(capability, RANGE_LENGTH_AT) : 0,
                osd2 ? BigEndian.int64(capability, RANGE_START_AT) : 0);
    }

    void encode(MemorySegment capability, OsdVersion version) {
        BigEndian.int8(capability, TYPE_AT, type << 4);
        if (version == OsdVersion.OSD_2) {
            BigEndian.int32(capability, ATTRIBUTES_ACCESS_AT, attributesAccess);
            BigEndian.int16(capability, BOOT_EPOCH_AT, bootEpoch);
            BigEndian.int64(capability, RANGE_LENGTH_AT, rangeLength);
            BigEndian.int64(capability, RANGE_START_AT, rangeStart);
        }
        BigEndian.int32(capability, tagAt(version), policyAccessTag);
        BigEndian.int64(capability, allowedAt(version), allowed.partition());
        BigEndian.int64(capability, allowedAt(version) + 8, allowed.object());
    }

    private static int tagAt(OsdVersion version) { return version == OsdVersion.OSD_2 ? 60 : 56; }

    private static int allowedAt(OsdVersion version) {
        return version == OsdVersion.OSD_2 ? 72 : 60;
    }
}
