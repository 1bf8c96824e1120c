package lunar.scsi.vpd;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.wire.BigEndian;

/**
 * VPD page 83h (SPC-5): names of the logical unit, the target port and the target device.
 *
 * @param designators in the order of the page
 */
public record DeviceIdentification(List<Designator> designators) implements VpdPage {
    public static final int CODE = 0x83;

    public DeviceIdentification {
        designators = List.copyOf(designators);
    }

    static DeviceIdentification decode(MemorySegment content) {
        var designators = new ArrayList<Designator>();
        long at = 0;
        while (at + Designator.HEADER_LENGTH <= content.byteSize()) {
            int length = Designator.HEADER_LENGTH + BigEndian.int8(content, at + 3);
            if (at + length > content.byteSize()) {
                break; // cut off
            }
            designators.add(Designator.decode(content.asSlice(at, length)));
            at += length;
        }
        return new DeviceIdentification(designators);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        var content = new ByteArrayOutputStream();
        designators.forEach(designator -> content.writeBytes(designator.bytes()));
        return content.toByteArray();
    }
}
