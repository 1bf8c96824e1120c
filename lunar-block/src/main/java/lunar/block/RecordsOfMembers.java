package lunar.block;

import java.util.Optional;
import java.util.UUID;

/** Records of devices that hosts do not see: of their connections, not of their identities. */
record RecordsOfMembers(Optional<ConnectionRecords> connections) implements DeviceRecords {
    @Override
    public Optional<String> find(String name) { return Optional.empty(); }

    @Override
    public void keep(String name, String value) {}

    @Override
    public boolean isPersistent() { return false; }

    @Override
    public boolean hasServed(UUID identity) { return false; }

    @Override
    public boolean settlesIdentities() { return false; }
}
