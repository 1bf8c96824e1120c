package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page B3h (SBC-4): how user data segments, which paths are told apart by, lie on the medium. All zeroes where
 * there are none, as R_SUP of {@link ExtendedInquiry} says.
 *
 * @param segmentBlocks USER DATA SEGMENT SIZE
 * @param segmentMultiplier USER DATA SEGMENT MULTIPLIER
 */
public record Referrals(long segmentBlocks, long segmentMultiplier) implements VpdPage {
    public static final int CODE = 0xb3;

    /** No referrals. */
    public static final Referrals NONE = new Referrals(0, 0);

    private static final int LENGTH = 12;

    public Referrals {
        CdbFields.check("segmentBlocks", segmentBlocks, 0xffff_ffffL);
        CdbFields.check("segmentMultiplier", segmentMultiplier, 0xffff_ffffL);
    }

    static Referrals decode(MemorySegment content) {
        MemorySegment bytes = BigEndian.padded(content, LENGTH);
        return new Referrals(BigEndian.int32(bytes, 4), BigEndian.int32(bytes, 8));
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(content);
        BigEndian.int32(bytes, 4, segmentBlocks);
        BigEndian.int32(bytes, 8, segmentMultiplier);
        return content;
    }
}
