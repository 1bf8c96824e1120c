package lunar.store;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceRecords;

/** Records in memory, of a state directory that has served these identities. */
final class ServedRecords implements DeviceRecords {
    final Map<String, String> kept = new HashMap<>();
    final Set<UUID> served = new HashSet<>();

    @Override
    public Optional<String> find(String name) { return Optional.ofNullable(kept.get(name)); }

    @Override
    public void keep(String name, String value) { kept.put(name, value); }

    @Override
    public boolean isPersistent() { return true; }

    @Override
    public boolean hasServed(UUID identity) { return served.contains(identity); }
}
