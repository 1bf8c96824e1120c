package lunar.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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

    /** A server that stops waits {@link ClosingLimits#flush} for a path that does not answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Optional<Path> directory;
    private final StateStore devices;
    private final Optional<Connections> connections;

    /**
     * Waits while another server has locked the directory, up to a minute: it may be stopping.
     *
     * @param directory empty for a server without saved state
     * @param listener is warned if connections are not recorded in the directory
     */
    StateRecords(Optional<Path> directory, ServerListener listener) throws IOException {
        this(directory, listener, PATIENCE);
    }

    StateRecords(Optional<Path> directory, ServerListener listener, Duration patience)
            throws IOException {
        this.directory = directory;
        devices = directory.isEmpty()
                ? StateStore.inMemory()
                : StateStore.inDirectory(directory.get().resolve(DEVICES));
        connections = directory.flatMap(path -> connections(path, listener, patience));
    }

    private Optional<Connections> connections(Path path, ServerListener listener,
            Duration patience) {
        String used = "state directory " + path + " is in use by another server";
        try {
            Optional<StateLock> lock = StateLock.of(path, patience, () -> listener.warned(
                    used + ": waits up to " + patience.toSeconds() + " s for its end", null));
            if (lock.isEmpty()) {
                listener.warned(used + ": sessions of iscsi: devices are not recorded, and those of"
                        + " a killed server are not ended before this one writes; use a state"
                        + " directory of its own", null);
            }
            return lock.map(own -> new Connections(Optional.of(own)));
        } catch (IOException e) {
            listener.warned("state directory " + path + " cannot be locked: sessions of iscsi:"
                    + " devices that are recorded there are taken for those of a killed server;"
                    + " no other server may use the directory", e);
            return Optional.of(new Connections(Optional.empty()));
        }
    }

    /** The records of connections, which no longer change once the directory is unlocked. */
    private final class Connections implements ConnectionRecords {
        /** Empty where the file system has no locks. */
        private final Optional<StateLock> lock;
        private boolean closed; // guarded by this

        Connections(Optional<StateLock> lock) { this.lock = lock; }

        @Override
        public Optional<String> find(String name) throws IOException {
            return StateRecords.this.find(name);
        }

        @Override
        public synchronized void keep(String name, String value) throws IOException {
            requireOpen();
            StateRecords.this.keep(name, value);
        }

        @Override
        public synchronized void remove(String name) throws IOException {
            requireOpen();
            devices.remove(name);
        }

        private void requireOpen() throws IOException {
            if (closed) {
                throw new IOException("the state directory belongs to the next server");
            }
        }

        synchronized void close() throws IOException {
            closed = true;
            if (lock.isPresent()) {
                lock.get().close();
            }
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
    public Optional<ConnectionRecords> connections() { return connections.map(own -> own); }

    /** Unlocks the directory, for when all devices are closed: connections can no longer be recorded. */
    @Override
    public void close() throws IOException {
        if (connections.isPresent()) {
            connections.get().close();
        }
    }
}
