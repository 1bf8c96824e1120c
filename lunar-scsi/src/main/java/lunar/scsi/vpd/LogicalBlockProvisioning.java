package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page B2h (SBC-4), without a provisioning group descriptor.
 *
 * @param thresholdExponent THRESHOLD EXPONENT; 0 for no thresholds
 * @param unmap LBPU: UNMAP is there
 * @param writeSame16 LBPWS: WRITE SAME(16) unmaps
 * @param writeSame10 LBPWS10: WRITE SAME(10) unmaps
 * @param readZeroes LBPRZ: 1 where unmapped blocks read as zeroes
 * @param anchor ANC_SUP: blocks can be anchored
 * @param provisioningType PROVISIONING TYPE: 0 not told, 1 resource, 2 thin
 */
public record LogicalBlockProvisioning(int thresholdExponent, boolean unmap, boolean writeSame16,
        boolean writeSame10, int readZeroes, boolean anchor, int provisioningType)
        implements
        VpdPage {
    public static final int CODE = 0xb2;

    /** PROVISIONING TYPE of a device that has less memory than it shows blocks. */
    public static final int THIN = 2;

    private static final int LENGTH = 4;

    public LogicalBlockProvisioning {
        CdbFields.check("thresholdExponent", thresholdExponent, 0xff);
        CdbFields.check("readZeroes", readZeroes, 7);
        CdbFields.check("provisioningType", provisioningType, 7);
    }

    static LogicalBlockProvisioning decode(MemorySegment content) {
        MemorySegment bytes = BigEndian.padded(content, LENGTH);
        return new LogicalBlockProvisioning(BigEndian.int8(bytes, 0), BigEndian.bit(bytes, 1, 7),
                BigEndian.bit(bytes, 1, 6), BigEndian.bit(bytes, 1, 5),
                BigEndian.int8(bytes, 1) >> 2 & 7, BigEndian.bit(bytes, 1, 1),
                BigEndian.int8(bytes, 2) & 7);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(content);
        BigEndian.int8(bytes, 0, thresholdExponent);
        BigEndian.int8(bytes, 1, BigEndian.bit(unmap, 7) | BigEndian.bit(writeSame16, 6)
                | BigEndian.bit(writeSame10, 5) | readZeroes << 2 | BigEndian.bit(anchor, 1));
        BigEndian.int8(bytes, 2, provisioningType);
        return content;
    }
}
