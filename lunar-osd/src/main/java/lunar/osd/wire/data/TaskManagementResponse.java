package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * The reply of PERFORM TASK MANAGEMENT FUNCTION.
 *
 * <pre>
 * 0 length of what follows (2): 6   4 service response   5 additional response information (3)
 * </pre>
 *
 * @param response service response, eight bits
 * @param information additional response information, 24 bits
 */
public record TaskManagementResponse(int response, int information) implements ParameterData {
    /** FUNCTION COMPLETE. */
    public static final int COMPLETE = 0x00;
    /** FUNCTION SUCCEEDED. */
    public static final int SUCCEEDED = 0x05;
    /** FUNCTION REJECTED. */
    public static final int REJECTED = 0x08;
    /** INCORRECT LOGICAL UNIT NUMBER. */
    public static final int INCORRECT_LUN = 0x09;

    private static final int LENGTH = 8;
    private static final int RESPONSE_AT = 4;

    public TaskManagementResponse {
        Fields.check("response", response, 0xff);
        Fields.check("information", information, 0xff_ffff);
    }

    /**
     * Reads a reply.
     *
     * @throws MalformedDataException for less than 8 bytes
     */
    public static TaskManagementResponse decode(MemorySegment bytes)
            throws MalformedDataException {
        if (bytes.byteSize() < LENGTH) {
            throw new MalformedDataException(
                    "task management response of " + bytes.byteSize() + " bytes");
        }
        return new TaskManagementResponse(BigEndian.int8(bytes, RESPONSE_AT),
                Fields.bits32(bytes, RESPONSE_AT) & 0xff_ffff);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, LENGTH - 2);
        BigEndian.int32(bytes, RESPONSE_AT, (long) response << 24 | information);
        return array;
    }
}
