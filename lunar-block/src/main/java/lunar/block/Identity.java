package lunar.block;

import java.util.UUID;

/**
 * Who a device is, stable over restarts and the same over every path to it.
 *
 * @param vendor at most 8 printable ASCII characters (SPC-5 T10 vendor identification)
 * @param product at most 16 printable ASCII characters
 * @param revision at most 4 printable ASCII characters
 * @param serial unit serial number, at most 64 printable ASCII characters
 * @param uuid identity from which designators (SPC-5 VPD page 83h) are made
 */
public record Identity(String vendor, String product, String revision, String serial, UUID uuid) {
    public Identity {
        requireAscii("vendor", vendor, 8);
        requireAscii("product", product, 16);
        requireAscii("revision", revision, 4);
        requireAscii("serial", serial, 64);
    }

    /** Identity of one of our own stores. */
    public static Identity of(String product, UUID uuid) {
        return new Identity("LUNAR", product, "0.1", uuid.toString().replace("-", ""), uuid);
    }

    private static void requireAscii(String name, String value, int maxLength) {
        if (value.length() > maxLength || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
            throw new IllegalArgumentException(
                    name + " must be at most " + maxLength + " printable ASCII characters: "
                            + value);
        }
    }
}
