package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * READ CAPACITY(10) data (SBC-4).
 *
 * @param lastLba last block, or {@link #TOO_LARGE}
 * @param blockSize bytes of a block
 */
public record CapacityData10(long lastLba, long blockSize) implements ParameterData {
    /** In place of a last block over 32 bits: ask with READ CAPACITY(16). */
    public static final long TOO_LARGE = 0xffff_ffffL;

    static final int LENGTH = 8;

    public CapacityData10 {
        CdbFields.check("lastLba", lastLba, TOO_LARGE);
        CdbFields.check("blockSize", blockSize, 0xffff_ffffL);
    }

    /** The data of a device of so many blocks. */
    public static CapacityData10 of(long blockCount, int blockSize) {
        return new CapacityData10(Math.min(blockCount - 1, TOO_LARGE), blockSize);
    }

    public static CapacityData10 decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < LENGTH) {
            throw new MalformedDataException(
                    "READ CAPACITY(10) data of " + bytes.byteSize() + " bytes");
        }
        return new CapacityData10(BigEndian.int32(bytes, 0), BigEndian.int32(bytes, 4));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, lastLba);
        BigEndian.int32(bytes, 4, blockSize);
        return array;
    }
}
