package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * RESERVE(6) and RESERVE(10) of the whole logical unit (SPC-2 chapter 7): obsolete, and still sent by cluster
 * software. Third-party and extent reservations are refused.
 *
 * @param form 6 or 10 bytes
 */
public record Reserve(CdbForm form) implements StandardCdb {
    public static final int RESERVE_6 = 0x16;
    public static final int RESERVE_10 = 0x56;

    /** 3RDPTY. */
    private static final int THIRD_PARTY_BIT = 4;
    /** EXTENT. */
    private static final int EXTENT_BIT = 0;

    public Reserve {
        if (form != CdbForm.CDB6 && form != CdbForm.CDB10) {
            throw new IllegalArgumentException("no RESERVE of " + form);
        }
    }

    public static Reserve decode(CdbForm form, MemorySegment cdb) throws InvalidCdbException {
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
    public void encode(MemorySegment target) { form.start(target, opcode(), 0); }
}
