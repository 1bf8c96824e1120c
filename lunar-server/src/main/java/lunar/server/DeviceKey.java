package lunar.server;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.Size;

/**
 * Key that identifies the device of a URI, regardless of the size: equal URIs mean one device, except for memory, which
 * is a separate device at each LUN.
 *
 * @param place the LUN, for memory; otherwise empty
 * @param uri filters, scheme, place and options, without the size
 * @param sizeBytes requested size
 */
record DeviceKey(String place, String uri, Optional<Long> sizeBytes) {
    private static final String SIZE = "size";
    private static final String CREATE = "create";

    /** @throws IllegalArgumentException if this is no device URI, with one line for a person */
    static DeviceKey of(String iqn, int lun, String uri) {
        String bare = Devices.withoutFilters(uri);
        String filters = uri.substring(0, uri.length() - bare.length());
        DeviceUri device = DeviceUri.parse(bare);
        Map<String, String> options = new TreeMap<>(device.options());
        if (device.scheme().equals("ram")) {
            Optional<Long> size = size(device.rest());
            return new DeviceKey(iqn + "/" + lun,
                    filters + "ram:" + (size.isPresent() ? "" : device.rest()) + options, size);
        }
        Optional<Long> size = device.scheme().equals("file")
                ? size(options.getOrDefault(SIZE, ""))
                : Optional.empty();
        if (size.isPresent()) {
            options.remove(SIZE);
        }
        options.remove(CREATE); // applies only if the device does not exist yet
        return new DeviceKey("", filters + device.scheme() + ":" + device.rest() + options
                + (device.more().isEmpty() ? "" : new TreeMap<>(device.more())), size);
    }

    /** Parses a size; empty if it is malformed: opening the device then reports a better message. */
    private static Optional<Long> size(String text) {
        try {
            return Optional.of(Size.parse(text));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /** Whether both are the same device, though perhaps of another size. */
    boolean isSameDevice(DeviceKey other) {
        return place.equals(other.place) && uri.equals(other.uri);
    }

    /** Returns this key without the size that is asked for. */
    DeviceKey withoutSize() {
        return new DeviceKey(place, uri, Optional.empty());
    }
}
