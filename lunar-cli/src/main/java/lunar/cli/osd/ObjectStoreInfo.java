package lunar.cli.osd;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import lunar.block.Size;
import lunar.osd.client.OsdInfo;

/** Describes object stores for {@code lunar info} and {@code lunar discover}. */
public final class ObjectStoreInfo {
    /** The type, for machines. */
    public static final String TYPE = "object-store";
    /** Line about a store that tells nothing without a credential. */
    public static final String SECURED = "object store with security";

    private ObjectStoreInfo() {}

    /** Returns a line for each fact, but for those that the store does not tell. */
    public static Map<String, String> lines(OsdInfo info) {
        var lines = new LinkedHashMap<String, String>();
        lines.put("type", "object store, " + info.version());
        lines.put("name", info.name());
        lines.put("capacity", Size.format(info.totalBytes()) + " (" + info.totalBytes()
                + " bytes)");
        lines.put("used", Size.format(info.usedBytes()) + " (" + info.usedBytes() + " bytes)");
        lines.put("partitions", Long.toString(info.partitionCount()));
        lines.put("vendor", info.vendor());
        lines.put("product", info.product());
        lines.put("model", info.model());
        lines.put("revision", info.revision());
        lines.put("serial", info.serial());
        lines.put("system id", info.systemId().toString());
        lines.values().removeIf(String::isEmpty);
        return lines;
    }

    /** Returns all facts for machines. */
    public static Map<String, Object> tree(OsdInfo info) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("type", TYPE);
        tree.put("version", info.version());
        tree.put("name", info.name());
        tree.put("totalBytes", info.totalBytes());
        tree.put("usedBytes", info.usedBytes());
        tree.put("partitionCount", info.partitionCount());
        tree.put("vendor", info.vendor());
        tree.put("product", info.product());
        tree.put("model", info.model());
        tree.put("revision", info.revision());
        tree.put("serial", info.serial());
        tree.put("systemId", info.systemId().toString());
        return tree;
    }

    /** Returns one line. */
    public static String line(OsdInfo info) {
        return String.format(Locale.ROOT, "object store %s %s, %s used, %d %s%s",
                info.version(), Size.format(info.totalBytes()), Size.format(info.usedBytes()),
                info.partitionCount(), info.partitionCount() == 1 ? "partition" : "partitions",
                info.name().isEmpty() ? "" : ", " + info.name());
    }
}
