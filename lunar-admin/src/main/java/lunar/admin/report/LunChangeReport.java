package lunar.admin.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lunar.server.LunChange;
import lunar.server.StorageServer;

/** Reports the LUNs that a server does not serve as configured. */
final class LunChangeReport {
    private LunChangeReport() {}

    static List<Map<String, Object>> trees(StorageServer server) {
        return server.changes().stream().map(LunChangeReport::tree).toList();
    }

    private static Map<String, Object> tree(LunChange change) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("target", change.iqn());
        tree.put("lun", change.lun());
        tree.put("change", change.kind().name().toLowerCase(Locale.ROOT));
        tree.put("configured", change.configured().map(Object::toString).orElse(null));
        tree.put("served", change.served().map(Object::toString).orElse(null));
        tree.put("text", change.toString());
        return tree;
    }
}
