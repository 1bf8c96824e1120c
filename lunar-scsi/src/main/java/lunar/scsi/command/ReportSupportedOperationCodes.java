package lunar.scsi.command;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT SUPPORTED OPERATION CODES (SPC-5); a {@link CommandTable} answers it.
 *
 * @param rctd RCTD: with command timeouts descriptors
 * @param reportingOptions REPORTING OPTIONS: 0 all commands, 1 to 3 one command
 * @param requestedOpcode REQUESTED OPERATION CODE
 * @param requestedServiceAction REQUESTED SERVICE ACTION
 * @param allocationLength maximum number of bytes to return
 */
public record ReportSupportedOperationCodes(boolean rctd, int reportingOptions, int requestedOpcode,
        int requestedServiceAction, long allocationLength) implements StandardCdb {
    /** REPORTING OPTIONS: every command. */
    public static final int ALL = 0;
    /** REPORTING OPTIONS: the command of an operation code that has no service actions. */
    public static final int ONE_OPCODE = 1;
    /** REPORTING OPTIONS: the command of an operation code and a service action. */
    public static final int ONE_SERVICE_ACTION = 2;
    /** REPORTING OPTIONS: the command of an operation code, and of a service action where it has some. */
    public static final int ONE_EITHER = 3;

    static final int OPCODE = 0xa3;
    static final int SERVICE_ACTION = 0x0c;

    public ReportSupportedOperationCodes {
        CdbFields.check("reportingOptions", reportingOptions, 7);
        CdbFields.check("requestedOpcode", requestedOpcode, 0xff);
        CdbFields.check("requestedServiceAction", requestedServiceAction, 0xffff);
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    static ReportSupportedOperationCodes decode(MemorySegment cdb) {
        return new ReportSupportedOperationCodes(BigEndian.bit(cdb, 2, 7),
                BigEndian.int8(cdb, 2) & 7, BigEndian.int8(cdb, 3), BigEndian.int16(cdb, 4),
                BigEndian.int32(cdb, 6));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB12; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB12.start(target, OPCODE, SERVICE_ACTION);
        BigEndian.int8(target, 2, BigEndian.bit(rctd, 7) | reportingOptions);
        BigEndian.int8(target, 3, requestedOpcode);
        BigEndian.int16(target, 4, requestedServiceAction);
        BigEndian.int32(target, 6, allocationLength);
    }
}
