package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * INQUIRY (SPC-5): requests the identity and properties of a unit.
 *
 * @param evpd EVPD: requests a page of vital product data
 * @param page PAGE CODE; 0 without EVPD
 * @param allocationLength maximum number of bytes to return
 */
public record Inquiry(boolean evpd, int page, int allocationLength) implements StandardCdb {
    /** Obsolete since SPC-3. */
    private static final int CMDDT_BIT = 1;

    public static final int OPCODE = 0x12;

    public Inquiry {
        CdbFields.check("page", page, 0xff);
        CdbFields.check("allocationLength", allocationLength, 0xffff);
        if (!evpd && page != 0) {
            throw new IllegalArgumentException("page " + page + " without EVPD");
        }
    }

    public static Inquiry decode(MemorySegment cdb) throws InvalidCdbException {
        if (BigEndian.bit(cdb, 1, CMDDT_BIT)) {
            throw InvalidCdbException.field(1, CMDDT_BIT); // the answer would be of another kind
        }
        boolean evpd = BigEndian.bit(cdb, 1, 0);
        int page = BigEndian.int8(cdb, 2);
        if (!evpd && page != 0) {
            throw InvalidCdbException.field(2, 7);
        }
        return new Inquiry(evpd, page, BigEndian.int16(cdb, 3));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB6.start(target, OPCODE, BigEndian.bit(evpd, 0));
        BigEndian.int8(target, 2, page);
        BigEndian.int16(target, 3, allocationLength);
    }
}
