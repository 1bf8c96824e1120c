package lunar.store;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import lunar.block.DeviceLabels;

/** Labels of a device in memory. */
final class MemoryLabels implements DeviceLabels {
    private final Map<String, String> labels = new ConcurrentHashMap<>();

    @Override
    public Optional<String> read(String name) { return Optional.ofNullable(labels.get(name)); }

    @Override
    public void write(String name, String value) { labels.put(name, value); }
}
