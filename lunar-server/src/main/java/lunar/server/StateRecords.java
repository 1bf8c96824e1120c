package lunar.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import lunar.block.DeviceRecords;
import lunar.scsi.target.StateStore;

/**
 * The state directory of a server: {@code devices/} contains records about devices, and a directory per identity
 * contains the state of its unit.
 */
final class StateRecords implements DeviceRecords {
    private static final String DEVICES = "devices";

    private final Optional<Path> directory;
    private final StateStore devices;

    /** @param directory empty for a server without saved state */
    StateRecords(Optional<Path> directory) throws IOException {
        this.directory = directory;
        devices = directory.isEmpty()
                ? StateStore.inMemory()
                : StateStore.inDirectory(directory.get().resolve(DEVICES));
    }

    /** The state of the unit with this identity. */
    StateStore unit(UUID identity) throws IOException {
        return directory.isEmpty()
                ? StateStore.inMemory()
                : StateStore.inDirectory(directory.get().resolve(identity.toString()));
    }

    @Override
    public Optional<String> find(String name) throws IOException {
        return devices.load(name).map(bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    @Override
    public void keep(String name, String value) throws IOException {
        devices.save(name, value.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean isPersistent() { return devices.isPersistent(); }

    @Override
    public boolean hasServed(UUID identity) {
        return directory.filter(path -> Files.isDirectory(path.resolve(identity.toString())))
                .isPresent();
    }
}
