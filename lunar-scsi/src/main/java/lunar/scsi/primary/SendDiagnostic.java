package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * SEND DIAGNOSTIC (SPC-5): runs a self-test, or takes a diagnostic page.
 *
 * @param selfTestCode SELF-TEST CODE: 0 none, or one of the constants
 * @param pageFormat PF: the parameter list is a page as the standard has it
 * @param selfTest SELFTEST: the default self-test
 * @param deviceOffline DEVOFFL: the test may disturb other logical units
 * @param unitOffline UNITOFFL: the test may disturb this logical unit
 * @param parameterListLength bytes of data-out
 */
public record SendDiagnostic(int selfTestCode, boolean pageFormat, boolean selfTest,
        boolean deviceOffline, boolean unitOffline, int parameterListLength)
        implements StandardCdb {
    /** A short self-test that continues after the command has ended. */
    public static final int BACKGROUND_SHORT = 1;
    /** An extended self-test that continues after the command has ended. */
    public static final int BACKGROUND_EXTENDED = 2;
    /** Ends a running background self-test. */
    public static final int ABORT_BACKGROUND = 4;
    /** A short self-test; its outcome is the command's. */
    public static final int FOREGROUND_SHORT = 5;
    /** An extended self-test; its outcome is the command's. */
    public static final int FOREGROUND_EXTENDED = 6;

    public static final int OPCODE = 0x1d;

    public SendDiagnostic {
        CdbFields.check("selfTestCode", selfTestCode, 7);
        CdbFields.check("parameterListLength", parameterListLength, 0xffff);
    }

    public static SendDiagnostic decode(MemorySegment cdb) {
        return new SendDiagnostic(BigEndian.int8(cdb, 1) >> 5, BigEndian.bit(cdb, 1, 4),
                BigEndian.bit(cdb, 1, 2), BigEndian.bit(cdb, 1, 1), BigEndian.bit(cdb, 1, 0),
                BigEndian.int16(cdb, 3));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB6; }

    @Override
    public Direction direction() {
        return parameterListLength == 0 ? Direction.NONE : Direction.OUT;
    }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB6.start(target, OPCODE,
                selfTestCode << 5 | BigEndian.bit(pageFormat, 4) | BigEndian.bit(selfTest, 2)
                        | BigEndian.bit(deviceOffline, 1) | BigEndian.bit(unitOffline, 0));
        BigEndian.int16(target, 3, parameterListLength);
    }
}
