package lunar.scsi.copy;

import java.lang.foreign.MemorySegment;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * A copy source or copy destination (CSCD) by one of its names: the identification descriptor (SPC-5 section 6.4.5.6),
 * of a block device.
 *
 * <pre>
 * 0 E4h   1 LU ID type 7-6, NUL 5, device type 4-0   2 relative initiator port   4 designation descriptor
 * 28 PAD 2   29 disk block length
 * </pre>
 *
 * @param isNull NUL: stands for no device
 * @param deviceType PERIPHERAL DEVICE TYPE
 * @param relativeInitiatorPort RELATIVE INITIATOR PORT IDENTIFIER, 0 for any
 * @param designator a name as in VPD page 83h, of at most 20 bytes
 * @param pad PAD: what is left of a segment may be padded or thrown away
 * @param blockLength DISK BLOCK LENGTH in bytes
 */
public record CscdDescriptor(boolean isNull, int deviceType, int relativeInitiatorPort,
        Designator designator, boolean pad, int blockLength) implements ParameterData {
    /** DESCRIPTOR TYPE CODE. */
    public static final int TYPE = 0xe4;
    /** Bytes of every CSCD descriptor here. */
    public static final int LENGTH = 32;
    /** CSCD ID of the logical unit that received the command. */
    public static final int THIS_UNIT = 0xffff;

    /** NUL: no device. */
    public static final CscdDescriptor NOTHING = new CscdDescriptor(true, StandardInquiry.DISK, 0,
            Designator.ofUnit(new Identifier.Other(Identifier.BINARY, 0, Bytes.EMPTY)), false, 0);

    private static final int DESIGNATOR = 4;
    private static final int MAX_DESIGNATOR_LENGTH = 20;

    public CscdDescriptor {
        CdbFields.check("deviceType", deviceType, 0x1f);
        CdbFields.check("relativeInitiatorPort", relativeInitiatorPort, 0xffff);
        CdbFields.check("blockLength", blockLength, 0xff_ffff);
        CdbFields.check("designator length", designator.identifier().content().length,
                MAX_DESIGNATOR_LENGTH);
    }

    /** A block device with this name. */
    public static CscdDescriptor disk(Designator designator, int blockLength) {
        return new CscdDescriptor(false, StandardInquiry.DISK, 0, designator, false, blockLength);
    }

    /**
     * Reads a descriptor of a parameter list.
     *
     * @param at where it starts in the list
     * @throws InvalidParameterListException 26h/07h for another type, 26h/00h for another kind of identifier, a device
     *         that is no disk, or a designator that is too long
     */
    static CscdDescriptor decode(MemorySegment list, int at) throws InvalidParameterListException {
        if (BigEndian.int8(list, at) != TYPE) {
            throw InvalidParameterListException.of(
                    AdditionalSense.UNSUPPORTED_TARGET_DESCRIPTOR_TYPE, at);
        }
        if (BigEndian.bit(list, at + 1, 5)) { // what else it says has no meaning
            return NOTHING;
        }
        int length = BigEndian.int8(list, at + DESIGNATOR + 3);
        if (length > MAX_DESIGNATOR_LENGTH) {
            throw InvalidParameterListException.field(at + DESIGNATOR + 3);
        }
        int deviceType = BigEndian.int8(list, at + 1) & 0x1f;
        if (deviceType != StandardInquiry.DISK) {
            throw InvalidParameterListException.field(at + 1, 4);
        }
        return new CscdDescriptor(false, deviceType, BigEndian.int16(list, at + 2),
                Designator.decode(
                        list.asSlice(at + DESIGNATOR, Designator.HEADER_LENGTH + length)),
                BigEndian.bit(list, at + 28, 2), BigEndian.int24(list, at + 29));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, TYPE);
        BigEndian.int8(bytes, 1, BigEndian.bit(isNull, 5) | deviceType);
        BigEndian.int16(bytes, 2, relativeInitiatorPort);
        byte[] name = designator.bytes();
        System.arraycopy(name, 0, array, DESIGNATOR, name.length);
        BigEndian.int8(bytes, 28, BigEndian.bit(pad, 2));
        BigEndian.int24(bytes, 29, blockLength);
        return array;
    }
}
