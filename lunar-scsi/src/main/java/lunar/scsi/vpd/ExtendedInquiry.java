package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page 86h (SPC-5), the fields a disk without protection information needs.
 *
 * @param senseKeySpecific UASK_SUP: sense-key-specific bytes come with UNIT ATTENTION
 * @param groupNumbers GROUP_SUP
 * @param headOfQueue HEADSUP
 * @param ordered ORDSUP
 * @param simple SIMPSUP
 * @param volatileCache V_SUP
 * @param clearsUnitAttention LUICLR
 * @param maxSenseLength MAXIMUM SUPPORTED SENSE DATA LENGTH; 0 where not told
 */
public record ExtendedInquiry(boolean senseKeySpecific, boolean groupNumbers, boolean headOfQueue,
        boolean ordered, boolean simple, boolean volatileCache, boolean clearsUnitAttention,
        int maxSenseLength) implements VpdPage {
    public static final int CODE = 0x86;

    private static final int LENGTH = 60;

    public ExtendedInquiry {
        CdbFields.check("maxSenseLength", maxSenseLength, 0xff);
    }

    static ExtendedInquiry decode(MemorySegment content) {
        MemorySegment bytes = BigEndian.padded(content, LENGTH);
        return new ExtendedInquiry(BigEndian.bit(bytes, 1, 5), BigEndian.bit(bytes, 1, 4),
                BigEndian.bit(bytes, 1, 2), BigEndian.bit(bytes, 1, 1), BigEndian.bit(bytes, 1, 0),
                BigEndian.bit(bytes, 2, 0), BigEndian.bit(bytes, 3, 0), BigEndian.int8(bytes, 9));
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(content);
        BigEndian.int8(bytes, 1, BigEndian.bit(senseKeySpecific, 5) | BigEndian.bit(groupNumbers, 4)
                | BigEndian.bit(headOfQueue, 2) | BigEndian.bit(ordered, 1)
                | BigEndian.bit(simple, 0));
        BigEndian.int8(bytes, 2, BigEndian.bit(volatileCache, 0));
        BigEndian.int8(bytes, 3, BigEndian.bit(clearsUnitAttention, 0));
        BigEndian.int8(bytes, 9, maxSenseLength);
        return content;
    }
}
