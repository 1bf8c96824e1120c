package lunar.it;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lunar.admin.report.Administered;
import lunar.admin.report.LunAnswer;
import lunar.server.LunRequest;
import lunar.server.StorageServer;

/** A server behind an admin API that has no config file, and whose LUNs are not changed. */
record FixedSubject(StorageServer server) implements Administered {
    @Override
    public String version() { return "0"; }

    @Override
    public Optional<Path> configFile() { return Optional.empty(); }

    @Override
    public Optional<Path> stateDirectory() { return Optional.empty(); }

    @Override
    public List<String> reload(boolean discard) { return List.of(); }

    @Override
    public LunAnswer change(LunRequest request) {
        throw new UnsupportedOperationException("no test changes LUNs");
    }
}
