package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * READ CAPACITY(16) data (SBC-4).
 *
 * @param lastLba last block
 * @param blockSize bytes of a block
 * @param protectionType P_TYPE plus one where PROT_EN is set, else 0
 * @param physicalExponent LOGICAL BLOCKS PER PHYSICAL BLOCK EXPONENT
 * @param provisioned LBPME: blocks can be unmapped
 * @param readZeroes LBPRZ: unmapped blocks read as zeroes
 * @param lowestAlignedLba LOWEST ALIGNED LOGICAL BLOCK ADDRESS
 */
public record CapacityData16(long lastLba, long blockSize, int protectionType,
        int physicalExponent, boolean provisioned, boolean readZeroes, int lowestAlignedLba)
        implements
        ParameterData {
    static final int LENGTH = 32;
    private static final int MIN_LENGTH = 12;

    public CapacityData16 {
        CdbFields.check("blockSize", blockSize, 0xffff_ffffL);
        CdbFields.check("protectionType", protectionType, 8);
        CdbFields.check("physicalExponent", physicalExponent, 0xf);
        CdbFields.check("lowestAlignedLba", lowestAlignedLba, 0x3fff);
    }

    /** Reads the data; last block and block size must be there. */
    public static CapacityData16 decode(MemorySegment given) throws MalformedDataException {
        if (given.byteSize() < MIN_LENGTH) {
            throw new MalformedDataException(
                    "READ CAPACITY(16) data of " + given.byteSize() + " bytes");
        }
        MemorySegment bytes = BigEndian.padded(given, LENGTH);
        int protection = BigEndian.int8(bytes, 12);
        return new CapacityData16(BigEndian.int64(bytes, 0), BigEndian.int32(bytes, 8),
                (protection & 1) != 0 ? 1 + (protection >> 1 & 7) : 0,
                BigEndian.int8(bytes, 13) & 0xf, BigEndian.bit(bytes, 14, 7),
                BigEndian.bit(bytes, 14, 6), BigEndian.int16(bytes, 14) & 0x3fff);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int64(bytes, 0, lastLba);
        BigEndian.int32(bytes, 8, blockSize);
        BigEndian.int8(bytes, 12, protectionType == 0 ? 0 : (protectionType - 1) << 1 | 1);
        BigEndian.int8(bytes, 13, physicalExponent);
        BigEndian.int16(bytes, 14, BigEndian.bit(provisioned, 15) | BigEndian.bit(readZeroes, 14)
                | lowestAlignedLba);
        return array;
    }
}
