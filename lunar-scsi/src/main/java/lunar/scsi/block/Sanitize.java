package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * SANITIZE (SBC-4): makes all previous data on the medium unreadable.
 *
 * @param serviceAction one of the constants
 * @param immediate IMMED: status before the operation has ended
 * @param zoneNoReset ZNR, of zoned devices
 * @param unrestrictedExit AUSE: a failed operation may be left by {@link #EXIT_FAILURE_MODE}
 * @param parameterListLength bytes of data-out, {@link SanitizeOverwrite}
 */
public record Sanitize(int serviceAction, boolean immediate, boolean zoneNoReset,
        boolean unrestrictedExit, int parameterListLength) implements StandardCdb {
    public static final int OVERWRITE = 0x01;
    public static final int BLOCK_ERASE = 0x02;
    public static final int CRYPTOGRAPHIC_ERASE = 0x03;
    public static final int EXIT_FAILURE_MODE = 0x1f;

    public static final int OPCODE = 0x48;

    public Sanitize {
        CdbFields.check("serviceAction", serviceAction, 0x1f);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff);
    }

    public static Sanitize decode(MemorySegment cdb) throws InvalidCdbException {
        int action = CdbFields.serviceAction(cdb);
        for (int at = 2; at <= 6; at++) { // what a later standard puts there could change what is erased
            if (BigEndian.int8(cdb, at) != 0) {
                throw InvalidCdbException.field(at);
            }
        }
        return switch (action) {
            case OVERWRITE, BLOCK_ERASE, CRYPTOGRAPHIC_ERASE, EXIT_FAILURE_MODE ->
                new Sanitize(action, BigEndian.bit(cdb, 1, 7), BigEndian.bit(cdb, 1, 6),
                        BigEndian.bit(cdb, 1, 5), BigEndian.int16(cdb, 7));
            default -> throw InvalidCdbException.field(1, 4);
        };
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB10; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB10.start(target, OPCODE,
                BigEndian.bit(immediate, 7) | BigEndian.bit(zoneNoReset, 6)
                        | BigEndian.bit(unrestrictedExit, 5) | serviceAction);
        BigEndian.int16(target, 7, parameterListLength);
    }
}
