package lunar.scsi.vpd;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * VPD page 88h (SPC-5): the target ports of the device and their names. Transport identifiers of initiator ports, which
 * a target does not have, are skipped.
 *
 * @param ports in the order of the page
 */
public record ScsiPorts(List<Port> ports) implements VpdPage {
    /**
     * A SCSI port designation descriptor.
     *
     * @param relativeId RELATIVE PORT IDENTIFIER
     * @param names target port descriptors
     */
    public record Port(int relativeId, List<Designator> names) {
        public Port {
            CdbFields.check("relativeId", relativeId, 0xffff);
            names = List.copyOf(names);
        }
    }

    public static final int CODE = 0x88;

    private static final int HEADER = 8;
    private static final int NAMES_HEADER = 4;

    public ScsiPorts {
        ports = List.copyOf(ports);
    }

    static ScsiPorts decode(MemorySegment content) {
        var ports = new ArrayList<Port>();
        long at = 0;
        while (at + HEADER <= content.byteSize()) {
            long namesAt = at + HEADER + BigEndian.int16(content, at + 6);
            if (namesAt + NAMES_HEADER > content.byteSize()) {
                break; // cut off
            }
            long end = namesAt + NAMES_HEADER + BigEndian.int16(content, namesAt + 2);
            if (end > content.byteSize()) {
                break;
            }
            ports.add(new Port(BigEndian.int16(content, at + 2), DeviceIdentification
                    .decode(content.asSlice(namesAt + NAMES_HEADER, end - namesAt - NAMES_HEADER))
                    .designators()));
            at = end;
        }
        return new ScsiPorts(ports);
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        var content = new ByteArrayOutputStream();
        for (Port port : ports) {
            byte[] names = new DeviceIdentification(port.names()).content();
            byte[] head = new byte[HEADER + NAMES_HEADER];
            var bytes = MemorySegment.ofArray(head);
            BigEndian.int16(bytes, 2, port.relativeId());
            BigEndian.int16(bytes, HEADER + 2, names.length);
            content.writeBytes(head);
            content.writeBytes(names);
        }
        return content.toByteArray();
    }
}
