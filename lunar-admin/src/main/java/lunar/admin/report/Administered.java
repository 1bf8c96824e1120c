package lunar.admin.report;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lunar.server.LunRequest;
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

    /** Returns what is wrong besides devices and volumes, one line each; none if all is well. */
    default List<String> problems() {
        return List.of();
    }

    /**
     * Reads the configuration again and applies its changes. Blocks.
     *
     * @param discard whether the changes of LUNs since the start ({@link #change}) are discarded
     * @return the changes, one line each
     * @throws RefusedException if it cannot be read or applied; then nothing has changed
     */
    List<String> reload(boolean discard) throws RefusedException;

    /**
     * Adds, removes or resizes a LUN until the server ends; see {@link StorageServer#change}. Blocks.
     *
     * @throws RefusedException if it cannot be done; then nothing has changed. Its cause, or the cause of that, is a
     *         {@link lunar.server.NotServedException} if there is no such target or LUN
     */
    LunAnswer change(LunRequest request) throws RefusedException;
}
