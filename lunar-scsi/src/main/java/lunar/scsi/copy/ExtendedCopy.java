package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * EXTENDED COPY (SPC-5 section 6.4): copies segments between logical units; {@link CopyParameterList} is its data-out.
 *
 * @param longIdentifier whether the list identifier has four bytes (LID4) rather than one (LID1)
 * @param parameterListLength bytes of data-out
 */
public record ExtendedCopy(boolean longIdentifier, long parameterListLength)
        implements StandardCdb {
    /** Service action with a list identifier of one byte. */
    public static final int LID1 = 0x00;
    /** Service action with a list identifier of four bytes. */
    public static final int LID4 = 0x01;

    /** THIRD-PARTY COPY OUT. */
    public static final int OPCODE = 0x83;

    public ExtendedCopy {
        CdbFields.check("parameterListLength", parameterListLength, 0xffff_ffffL);
    }

    public static Cdb decodeThirdPartyCopyOut(MemorySegment cdb) throws InvalidCdbException {
        return switch (CdbFields.serviceAction(cdb)) {
            case LID1 -> new ExtendedCopy(false, BigEndian.int32(cdb, 10));
            case LID4 -> new ExtendedCopy(true, BigEndian.int32(cdb, 10));
            case PopulateToken.SERVICE_ACTION -> PopulateToken.decode(cdb);
            case WriteUsingToken.SERVICE_ACTION -> WriteUsingToken.decode(cdb);
            case CopyOperationAbort.SERVICE_ACTION -> CopyOperationAbort.decode(cdb);
            default -> throw InvalidCdbException.field(1, 4);
        };
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB16.start(target, OPCODE, longIdentifier ? LID4 : LID1);
        BigEndian.int32(target, 10, parameterListLength);
    }
}
