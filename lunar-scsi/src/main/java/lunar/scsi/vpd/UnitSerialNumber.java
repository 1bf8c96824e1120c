package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import lunar.scsi.wire.Ascii;

/**
 * VPD page 80h (SPC-5).
 *
 * @param serial printable ASCII, to 252 characters
 */
public record UnitSerialNumber(String serial) implements VpdPage {
    public static final int CODE = 0x80;

    private static final int MAX_LENGTH = 252;

    public UnitSerialNumber {
        Ascii.check("serial", serial, MAX_LENGTH);
    }

    static UnitSerialNumber decode(MemorySegment content) {
        return new UnitSerialNumber(
                Ascii.read(content, 0, Math.min(content.byteSize(), MAX_LENGTH)));
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() { return serial.getBytes(StandardCharsets.US_ASCII); }
}
