package lunar.block;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The modules of Lunar that provide devices and filters, by what URIs call these. A message to a user whose program
 * lacks one of them names it; nothing else depends on this table.
 */
final class ProvidingModules {
    private static final String FILTER_MODULE = "lunar-filter";
    private static final Set<String> FILTERS = Set.of("cache", "delay", "encrypt", "fault",
            "schedule", "throttle", "trace", "verify", "volatile");
    private static final Map<String, String> BY_SCHEME = byScheme();

    private ProvidingModules() {}

    private static Map<String, String> byScheme() {
        var modules = new HashMap<String, String>();
        Set.of("ram", "file", "disk").forEach(scheme -> modules.put(scheme, "lunar-store"));
        Set.of("iscsi", "iscsis", "iser").forEach(scheme -> modules.put(scheme, "lunar-initiator"));
        Set.of("raid0", "raid1", "raid5", "raid6", "raid10", "linear")
                .forEach(scheme -> modules.put(scheme, "lunar-raid"));
        return Map.copyOf(modules);
    }

    /** Returns which module to add for devices of a scheme; empty if none of Lunar's has them. */
    static Optional<String> adviceForDevice(String scheme) {
        return Optional.ofNullable(BY_SCHEME.get(scheme)).map(ProvidingModules::advice);
    }

    /** Returns which module to add for a filter; empty if none of Lunar's has it. */
    static Optional<String> adviceForFilter(String name) {
        return FILTERS.contains(name) ? Optional.of(advice(FILTER_MODULE)) : Optional.empty();
    }

    private static String advice(String artifact) {
        return "org.lunar:" + artifact + " is missing at run time; add it to the dependencies, and"
                + " on the module path start Java with --add-modules "
                + artifact.replace('-', '.');
    }
}
