package lunar.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import lunar.block.ConnectionRecords;
import lunar.block.DeviceRecords;
import lunar.scsi.target.StateStore;

/**
 * The state directory of a server: {@code devices/} contains records about devices and their connections, and a
 * directory per identity contains the state of its unit. The server that has locked the directory records connections.
 */
final class StateRecords implements DeviceRecords, AutoCloseable {
    private static final String DEVICES = "devices";

    private final Optional<Path> directory;
    private final StateStore devices;
    private final Optional<StateLock> lock;

    /**
     * @param directory empty for a server without saved state
     * @param listener is warned if connections are not recorded in the directory
     */
    StateRecords(Optional<Path> directory, ServerListener listener) throws IOException {
        this.directory = directory;
        devices = directory.isEmpty()
                ? StateStore.inMemory()
                : StateStore.inDirectory(directory.get().resolve(DEVICES));
        lock = directory.isEmpty() ? Optional.empty() : locked(directory.get(), listener);
    }

    private static Optional<StateLock> locked(Path directory, ServerListener listener) {
        String lost = ": sessions of iscsi: devices are not recorded, so those of a killed server"
                + " are not ended before its successor writes; use a state directory of its own";
        try {
            Optional<StateLock> lock = StateLock.of(directory);
            if (lock.isEmpty()) {
                listener.warned("state directory " + directory + " is in use by another server"
                        + lost, null);
            }
            return lock;
        } catch (IOException e) {
            listener.warned("state directory " + directory + " cannot be locked" + lost, e);
            return Optional.empty();
        }
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

    @Override
    public Optional<ConnectionRecords> connections() {
        return lock.map(_ -> new ConnectionRecords() {
            @Override
            public Optional<String> find(String name) throws IOException {
                return StateRecords.this.find(name);
            }

            @Override
            public void keep(String name, String value) throws IOException {
                StateRecords.this.keep(name, value);
            }
        });
    }

    /** Unlocks the directory, for when all devices are closed. */
    @Override
    public void close() throws IOException {
        if (lock.isPresent()) {
            lock.get().close();
        }
    }
}
