package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * RELEASE(6) and RELEASE(10) of the whole logical unit (SPC-2 chapter 7): obsolete, and still sent by cluster
 * software. Third-party and extent reservations are refused.
 *
 * @param form 6 or 10 bytes
 */
public record Release(CdbForm form) implements StandardCdb {
    public static final int RELEASE_6 = 0x17;
    public static final int RELEASE_10 = 0x57;

    /** 3RDPTY. */
    private static final int THIRD_PARTY_BIT = 4;
    /** EXTENT. */
    private static final int EXTENT_BIT = 0;

    public Release {
        if (form != CdbForm.CDB6 && form != CdbForm.CDB10) {
            throw new IllegalArgumentException("no RELEASE of " + form);
        }
    }

    public static Release decode(CdbForm form, MemorySegment cdb) throws InvalidCdbException {
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
    public void encode(MemorySegment target) { form.start(target, opcode(), 0); }
}
