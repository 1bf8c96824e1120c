package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * RESERVE(6) and RESERVE(10) of the whole logical unit (SPC-2 chapter 7): obsolete, and still sent by cluster
 * software. Third-party and extent reservations are refused.
 *
 * @param form 6 or 10 bytes
 */
public record Reserve(CdbForm form) implements StandardCdb {
    static final int RESERVE_6 = 0x16;
    static final int RESERVE_10 = 0x56;

    /** 3RDPTY. */
    private static final int THIRD_PARTY_BIT = 4;
    /** EXTENT. */
    private static final int EXTENT_BIT = 0;

    public Reserve {
        if (form != CdbForm.CDB6 && form != CdbForm.CDB10) {
            throw new IllegalArgumentException("no RESERVE of " + form);
        }
    }

    static Reserve decode(CdbForm form, MemorySegment cdb) throws InvalidCdbException {
        if (BigEndian.bit(cdb, 1, THIRD_PARTY_BIT)) {
            throw InvalidCdbException.field(1, THIRD_PARTY_BIT);
        }
        if (BigEndian.bit(cdb, 1, EXTENT_BIT)) {
            throw InvalidCdbException.field(1, EXTENT_BIT);
        }
        return new Reserve(form);
    }

    @Override
    public int opcode() { return form == CdbForm.CDB6 ? RESERVE_6 : RESERVE_10; }

    @Override
    public Direction direction() { return Direction.NONE; }

    @Override
    public void encode(MemorySegment target) { CdbFields.start(target, form, opcode(), 0); }
}
