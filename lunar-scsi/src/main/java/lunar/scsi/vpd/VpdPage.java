package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * A page of vital product data (SPC-5).
 *
 * <pre>
 * 0 peripheral qualifier and device type   1 page code   2 page length   4 content
 * </pre>
 */
public sealed interface VpdPage extends ParameterData permits SupportedVpdPages, UnitSerialNumber,
        DeviceIdentification, ExtendedInquiry, BlockLimits, BlockDeviceCharacteristics,
        LogicalBlockProvisioning, Referrals, ModePagePolicy, ScsiPorts, ThirdPartyCopy,
        WriteVerifier, OtherVpdPage {
    /** Bytes before the content. */
    int HEADER_LENGTH = 4;

    /** PAGE CODE. */
    int pageCode();

    /** The page without its header. */
    byte[] content();

    /** The page with its header, of a connected disk. */
    @Override
    default byte[] bytes() { return bytes(StandardInquiry.DISK); }

    /** The page with its header, of a connected device of some type. */
    default byte[] bytes(int deviceType) {
        byte[] content = content();
        byte[] array = new byte[HEADER_LENGTH + content.length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, deviceType);
        BigEndian.int8(bytes, 1, pageCode());
        BigEndian.int16(bytes, 2, content.length);
        System.arraycopy(content, 0, array, HEADER_LENGTH, content.length);
        return array;
    }

    /**
     * Bytes of the whole page, of which the segment may hold only the first: an allocation length to ask again with.
     */
    static int fullLength(MemorySegment page) throws MalformedDataException {
        if (page.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException("VPD page of " + page.byteSize() + " bytes");
        }
        return HEADER_LENGTH + BigEndian.int16(page, 2);
    }

    /** Reads a page, cut or not: numbers that are cut off are zero, elements of lists that are cut off are left out. */
    static VpdPage decode(MemorySegment page) throws MalformedDataException {
        int fullLength = fullLength(page);
        MemorySegment content = page.asSlice(HEADER_LENGTH,
                Math.min(page.byteSize(), fullLength) - HEADER_LENGTH);
        int code = BigEndian.int8(page, 1);
        return switch (code) {
            case SupportedVpdPages.CODE -> SupportedVpdPages.decode(content);
            case UnitSerialNumber.CODE -> UnitSerialNumber.decode(content);
            case DeviceIdentification.CODE -> DeviceIdentification.decode(content);
            case ExtendedInquiry.CODE -> ExtendedInquiry.decode(content);
            case ThirdPartyCopy.CODE -> ThirdPartyCopy.decode(content);
            case BlockLimits.CODE -> BlockLimits.decode(content);
            case BlockDeviceCharacteristics.CODE -> BlockDeviceCharacteristics.decode(content);
            case LogicalBlockProvisioning.CODE -> LogicalBlockProvisioning.decode(content);
            case Referrals.CODE -> Referrals.decode(content);
            case ModePagePolicy.CODE -> ModePagePolicy.decode(content);
            case ScsiPorts.CODE -> ScsiPorts.decode(content);
            case WriteVerifier.CODE -> {
                Optional<WriteVerifier> own = WriteVerifier.decode(content);
                yield own.isPresent() ? own.get() : new OtherVpdPage(code, Bytes.of(content));
            }
            default -> new OtherVpdPage(code, Bytes.of(content));
        };
    }
}
