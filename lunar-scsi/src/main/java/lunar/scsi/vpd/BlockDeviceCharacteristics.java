package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page B1h (SBC-4).
 *
 * @param rotationRate MEDIUM ROTATION RATE per minute; 0 not told, 1 does not rotate
 * @param productType PRODUCT TYPE
 * @param formFactor NOMINAL FORM FACTOR
 * @param forceUnitAccess FUAB: FUA and SYNCHRONIZE CACHE behave as SBC-3 has them
 * @param readAfterBlockErase WABEREQ: what a read after a block erase does, 0 not told, 1 succeeds
 * @param readAfterCryptoErase WACEREQ: the same after a cryptographic erase
 */
public record BlockDeviceCharacteristics(int rotationRate, int productType, int formFactor,
        boolean forceUnitAccess, int readAfterBlockErase, int readAfterCryptoErase)
        implements
        VpdPage {
    /** WABEREQ and WACEREQ: reads succeed. */
    public static final int READS_SUCCEED = 1;
    public static final int CODE = 0xb1;

    /** MEDIUM ROTATION RATE of a solid-state device. */
    public static final int NON_ROTATING = 1;

    private static final int LENGTH = 60;

    public BlockDeviceCharacteristics {
        CdbFields.check("rotationRate", rotationRate, 0xffff);
        CdbFields.check("productType", productType, 0xff);
        CdbFields.check("formFactor", formFactor, 0xf);
        CdbFields.check("readAfterBlockErase", readAfterBlockErase, 3);
        CdbFields.check("readAfterCryptoErase", readAfterCryptoErase, 3);
    }

    static BlockDeviceCharacteristics decode(MemorySegment content) {
        MemorySegment bytes = BigEndian.padded(content, LENGTH);
        return new BlockDeviceCharacteristics(BigEndian.int16(bytes, 0), BigEndian.int8(bytes, 2),
                BigEndian.int8(bytes, 3) & 0xf, BigEndian.bit(bytes, 4, 1),
                BigEndian.int8(bytes, 3) >> 6, BigEndian.int8(bytes, 3) >> 4 & 3);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(content);
        BigEndian.int16(bytes, 0, rotationRate);
        BigEndian.int8(bytes, 2, productType);
        BigEndian.int8(bytes, 3, readAfterBlockErase << 6 | readAfterCryptoErase << 4 | formFactor);
        BigEndian.int8(bytes, 4, BigEndian.bit(forceUnitAccess, 1));
        return content;
    }
}
