package lunar.admin.report;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lunar.server.StorageServer;

/** The running server behind an admin API. Implementations are thread-safe. */
public interface Administered {
    /** Returns the server. */
    StorageServer server();

    /** Returns the version of the program. */
    String version();

    /** Returns the config file that {@link #reload} reads; empty if there is none. */
    Optional<Path> configFile();

    /** Returns the state directory; empty if there is none. */
    Optional<Path> stateDirectory();

    /**
     * Reads the configuration again and applies its changes. Blocks.
     *
     * @return the changes, one line each
     * @throws RefusedException if it cannot be read or applied; then nothing has changed
     */
    List<String> reload() throws RefusedException;
}
