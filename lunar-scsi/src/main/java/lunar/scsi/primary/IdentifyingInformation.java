package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-in of REPORT IDENTIFYING INFORMATION for one type (SPC-5).
 *
 * @param information the bytes that were set last; none if none were
 */
public record IdentifyingInformation(Bytes information) implements ParameterData {
    /** IDENTIFYING INFORMATION TYPE: information of any form. */
    public static final int PERIPHERAL_DEVICE = 0;
    /** IDENTIFYING INFORMATION TYPE: text in UTF-8 that ends with a null. */
    public static final int PERIPHERAL_DEVICE_TEXT = 2;
    /** IDENTIFYING INFORMATION TYPE: which types there are, and how long each may be. */
    public static final int SUPPORTED = 0x7f;
    /** Maximum number of bytes of the type {@link #PERIPHERAL_DEVICE}. */
    public static final int MAX_LENGTH = 512;
    /** Maximum number of bytes of the type {@link #PERIPHERAL_DEVICE_TEXT}. */
    public static final int MAX_TEXT_LENGTH = 256;

    private static final int HEADER = 4;

    public IdentifyingInformation {
        CdbFields.check("length", information.length(), 0xffff);
    }

    /** Returns the data of REPORT IDENTIFYING INFORMATION about the supported types. */
    public static ParameterData supported() {
        return () -> {
            byte[] array = new byte[HEADER + 2 * 4];
            var bytes = MemorySegment.ofArray(array);
            BigEndian.int16(bytes, 2, array.length - HEADER);
            BigEndian.int8(bytes, 4, PERIPHERAL_DEVICE << 1);
            BigEndian.int16(bytes, 6, MAX_LENGTH);
            BigEndian.int8(bytes, 8, PERIPHERAL_DEVICE_TEXT << 1);
            BigEndian.int16(bytes, 10, MAX_TEXT_LENGTH);
            return array;
        };
    }

    /** Reads the data; bytes that are cut off are left out. */
    public static IdentifyingInformation decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER) {
            throw new MalformedDataException(
                    "identifying information of " + bytes.byteSize() + " bytes");
        }
        long length = Math.min(BigEndian.int16(bytes, 2), bytes.byteSize() - HEADER);
        return new IdentifyingInformation(Bytes.of(bytes.asSlice(HEADER, length)));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER + information.length()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int16(bytes, 2, information.length());
        MemorySegment.copy(information.segment(), 0, bytes, HEADER, information.length());
        return array;
    }
}
