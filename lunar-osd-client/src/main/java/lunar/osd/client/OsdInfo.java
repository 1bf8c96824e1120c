package lunar.osd.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lunar.osd.wire.page.RootAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.vpd.StandardInquiry;

/**
 * Description of an object-based storage device, as its root object has it.
 *
 * @param version version of the OSD command set, for people: {@code OSD-2}, or {@code OSD-3} if the device claims that
 * @param vendor vendor identification
 * @param product product identification
 * @param model model
 * @param revision revision
 * @param serial serial number; may be empty
 * @param name OSD name, which FORMAT OSD sets; may be empty
 * @param systemId OSD system identifier, 20 bytes; may be empty
 * @param totalBytes capacity; 0 if the device does not tell it
 * @param usedBytes capacity that is in use
 * @param partitionCount number of partitions
 */
public record OsdInfo(String version, String vendor, String product, String model,
        String revision, String serial, String name, Bytes systemId, long totalBytes,
        long usedBytes, long partitionCount) {
    private static final int OSD_3 = 0x0560;
    /** Revisions of a standard have codes from that of the standard on. */
    private static final int REVISIONS = 0x20;

    static OsdInfo read(RootObject root, StandardInquiry inquiry) throws IOException {
        var asked = List.of(RootAttribute.SYSTEM_ID, RootAttribute.VENDOR, RootAttribute.PRODUCT,
                RootAttribute.MODEL, RootAttribute.REVISION, RootAttribute.SERIAL_NUMBER,
                RootAttribute.OSD_NAME, RootAttribute.TOTAL_CAPACITY, RootAttribute.USED_CAPACITY,
                RootAttribute.PARTITION_COUNT);
        var reply = new Reply<>(root,
                root.get(asked.stream().map(RootAttribute::id).toList()));
        return new OsdInfo(version(inquiry.versionDescriptors()),
                text(reply, RootAttribute.VENDOR), text(reply, RootAttribute.PRODUCT),
                text(reply, RootAttribute.MODEL), text(reply, RootAttribute.REVISION),
                text(reply, RootAttribute.SERIAL_NUMBER), text(reply, RootAttribute.OSD_NAME),
                reply.attribute(RootAttribute.SYSTEM_ID).orElse(Bytes.EMPTY),
                number(reply, RootAttribute.TOTAL_CAPACITY),
                number(reply, RootAttribute.USED_CAPACITY),
                number(reply, RootAttribute.PARTITION_COUNT));
    }

    private static String version(List<Integer> descriptors) {
        return descriptors.stream().anyMatch(each -> each >= OSD_3 && each < OSD_3 + REVISIONS)
                ? "OSD-3"
                : "OSD-2"; // it has answered a command of that version
    }

    private static String text(Reply<?> reply, RootAttribute attribute) {
        return reply.attribute(attribute)
                .map(value -> new String(value.toArray(), StandardCharsets.UTF_8))
                .map(value -> value.replace('\0', ' ').strip()).orElse("");
    }

    private static long number(Reply<?> reply, RootAttribute attribute) {
        return OsdCalls.number(reply.attributes(), attribute).orElse(0);
    }
}
