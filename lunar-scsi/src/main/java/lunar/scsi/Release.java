package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * RELEASE(6) and RELEASE(10) of the whole logical unit (SPC-2 chapter 7): obsolete, and still sent by cluster
 * software. Third-party and extent reservations are refused.
 *
 * @param form 6 or 10 bytes
 */
public record Release(CdbForm form) implements StandardCdb {
    static final int RELEASE_6 = 0x17;
    static final int RELEASE_10 = 0x57;

    /** 3RDPTY. */
    private static final int THIRD_PARTY_BIT = 4;
    /** EXTENT. */
    private static final int EXTENT_BIT = 0;

    public Release {
        if (form != CdbForm.CDB6 && form != CdbForm.CDB10) {
            throw new IllegalArgumentException("no RELEASE of " + form);
        }
    }

    static Release decode(CdbForm form, MemorySegment cdb) throws InvalidCdbException {
        if (BigEndian.bit(cdb, 1, THIRD_PARTY_BIT)) {
            throw InvalidCdbException.field(1, THIRD_PARTY_BIT);
        }
        if (BigEndian.bit(cdb, 1, EXTENT_BIT)) {
            throw InvalidCdbException.field(1, EXTENT_BIT);
        }
        return new Release(form);
    }

    @Override
    public int opcode() { return form == CdbForm.CDB6 ? RELEASE_6 : RELEASE_10; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) { CdbFields.start(target, form, opcode(), 0); }
}
