package lunar.block;

import java.io.IOException;
import java.util.Optional;

/** Labels of a device that are stored in records under its identity. */
record RecordedLabels(DeviceRecords records, Identity identity) implements DeviceLabels {
    @Override
    public Optional<String> read(String name) throws IOException { return records.find(key(name)); }

    @Override
    public void write(String name, String value) throws IOException {
        records.keep(key(name), value);
    }

    private String key(String name) { return "label-" + identity.uuid() + "-" + name; }
}
