package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * Data of PERSISTENT RESERVE IN with REPORT CAPABILITIES (SPC-5 section 6.15.4) of a unit that knows every type.
 *
 * @param compatibleHandling CRH: RESERVE and RELEASE of a registrant succeed without effect
 * @param specifiesInitiators SIP_C: SPEC_I_PT
 * @param allTargetPorts ATP_C: ALL_TG_PT
 * @param persistenceCapable PTPL_C: APTPL may be set
 * @param persistenceActive PTPL_A: it is
 */
public record ReservationCapabilities(boolean compatibleHandling, boolean specifiesInitiators,
        boolean allTargetPorts, boolean persistenceCapable, boolean persistenceActive)
        implements
        ParameterData {
    private static final int LENGTH = 8;
    private static final int TYPE_MASK_VALID = 0x80;
    /** ALLOW COMMANDS 001b: TEST UNIT READY passes, MODE SENSE and READ BUFFER do not. */
    private static final int ALLOW_COMMANDS = 0x10;
    private static final int EVERY_TYPE = 0xea01;

    public static ReservationCapabilities decode(MemorySegment bytes)
            throws MalformedDataException {
        if (bytes.byteSize() < LENGTH) {
            throw new MalformedDataException(
                    "REPORT CAPABILITIES data of " + bytes.byteSize() + " bytes");
        }
        return new ReservationCapabilities(BigEndian.bit(bytes, 2, 4), BigEndian.bit(bytes, 2, 3),
                BigEndian.bit(bytes, 2, 2), BigEndian.bit(bytes, 2, 0),
                BigEndian.bit(bytes, 3, 0));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 0, LENGTH);
        BigEndian.int8(bytes, 2, BigEndian.bit(compatibleHandling, 4)
                | BigEndian.bit(specifiesInitiators, 3) | BigEndian.bit(allTargetPorts, 2)
                | BigEndian.bit(persistenceCapable, 0));
        BigEndian.int8(bytes, 3,
                TYPE_MASK_VALID | ALLOW_COMMANDS | BigEndian.bit(persistenceActive, 0));
        BigEndian.int16(bytes, 4, EVERY_TYPE);
        return array;
    }
}
