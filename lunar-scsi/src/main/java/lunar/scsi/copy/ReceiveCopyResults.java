package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.StandardCdb;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * RECEIVE COPY RESULTS, which SPC-5 splits into one command for each service action (sections 6.21 to 6.26 of SPC-4).
 *
 * @param serviceAction one of the constants
 * @param listIdentifier which copy operation, one byte for the service actions of LID1; 0 for the others
 * @param allocationLength maximum number of bytes to return
 */
public record ReceiveCopyResults(int serviceAction, long listIdentifier, long allocationLength)
        implements
        StandardCdb {
    public static final int COPY_STATUS_LID1 = 0x00;
    public static final int RECEIVE_DATA_LID1 = 0x01;
    public static final int OPERATING_PARAMETERS = 0x03;
    public static final int FAILED_SEGMENT_DETAILS = 0x04;
    public static final int COPY_STATUS_LID4 = 0x05;
    public static final int RECEIVE_DATA_LID4 = 0x06;
    public static final int ROD_TOKEN_INFORMATION = 0x07;

    /** THIRD-PARTY COPY IN. */
    public static final int OPCODE = 0x84;

    public ReceiveCopyResults {
        CdbFields.check("serviceAction", serviceAction, 0x1f);
        CdbFields.check("listIdentifier", listIdentifier,
                isLong(serviceAction) ? 0xffff_ffffL : 0xff);
        CdbFields.check("allocationLength", allocationLength, 0xffff_ffffL);
    }

    public static ReceiveCopyResults decode(MemorySegment cdb) throws InvalidCdbException {
        int action = CdbFields.serviceAction(cdb);
        return switch (action) {
            case COPY_STATUS_LID1, RECEIVE_DATA_LID1, OPERATING_PARAMETERS,
                    FAILED_SEGMENT_DETAILS ->
                new ReceiveCopyResults(action, BigEndian.int8(cdb, 2), BigEndian.int32(cdb, 10));
            case COPY_STATUS_LID4, RECEIVE_DATA_LID4, ROD_TOKEN_INFORMATION ->
                new ReceiveCopyResults(action, BigEndian.int32(cdb, 2), BigEndian.int32(cdb, 10));
            default -> throw InvalidCdbException.field(1, 4);
        };
    }

    private static boolean isLong(int serviceAction) { return serviceAction >= COPY_STATUS_LID4; }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public CdbForm form() { return CdbForm.CDB16; }

    @Override
    public Direction direction() { return Direction.IN; }

    @Override
    public void encode(MemorySegment target) {
        CdbForm.CDB16.start(target, OPCODE, serviceAction);
        if (isLong(serviceAction)) {
            BigEndian.int32(target, 2, listIdentifier);
        } else {
            BigEndian.int8(target, 2, (int) listIdentifier);
        }
        BigEndian.int32(target, 10, allocationLength);
    }
}
