package lunar.admin.report;

import java.util.LinkedHashMap;
import java.util.Map;
import lunar.server.StorageServer;
import lunar.server.UnitStatus;

/** Reports a logical unit. */
public final class UnitReport {
    private UnitReport() {}

    /** Returns the tree of all units of a server, and of what is not as configured. */
    public static Map<String, Object> tree(StorageServer server) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("luns", server.unitStatuses().stream().map(UnitReport::tree).toList());
        tree.put("temporaryChanges", LunChangeReport.trees(server));
        return tree;
    }

    /** Returns the tree of a unit. */
    public static Map<String, Object> tree(UnitStatus unit) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("target", unit.unit().iqn());
        tree.put("lun", unit.unit().lun());
        tree.put("uri", unit.uri());
        tree.put("identity", unit.identity().toString());
        tree.put("sizeBytes", unit.unit().sizeBytes());
        tree.put("readOnly", unit.readOnly());
        tree.put("limit", unit.limit().map(Object::toString).orElse(null));
        tree.put("usedBytes", unit.usage().map(usage -> usage.usedBytes()).orElse(null));
        tree.put("availableBytes", unit.usage().map(usage -> usage.availableBytes()).orElse(null));
        tree.put("temporary", unit.temporary());
        tree.put("commands", CommandReport.tree(unit.commands()));
        return tree;
    }
}
