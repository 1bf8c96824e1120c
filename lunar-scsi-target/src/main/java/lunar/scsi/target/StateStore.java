package lunar.scsi.target;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps the small state of a logical unit that must outlive its server: persistent reservations with APTPL, saved mode
 * pages, identifying information. Thread-safe.
 */
public interface StateStore {
    /**
     * Returns the state that was saved last under a name; empty where there is none.
     *
     * @throws IOException when it cannot be read
     */
    Optional<byte[]> load(String name) throws IOException;

    /**
     * Replaces the state of a name. The new state is on stable storage when the call returns; a crash during the call
     * leaves the old or the new state. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException when it cannot be written
     */
    void save(String name, byte[] state) throws IOException;

    /** Whether what is saved outlives the process; if not, APTPL and SP are refused (SPC-5 sections 6.16 and 6.13). */
    boolean isPersistent();

    /** Returns a store in memory, which is lost when the process ends. */
    static StateStore inMemory() {
        Map<String, byte[]> states = new ConcurrentHashMap<>();
        return new StateStore() {
            @Override
            public Optional<byte[]> load(String name) {
                return Optional.ofNullable(states.get(name)).map(byte[]::clone);
            }

            @Override
            public void save(String name, byte[] state) { states.put(name, state.clone()); }

            @Override
            public boolean isPersistent() { return false; }
        };
    }

    /** Returns a store in the files of a directory, which is created if missing. Only one store per directory. */
    static StateStore inDirectory(Path directory) throws IOException {
        return new DirectoryStateStore(directory);
    }
}
