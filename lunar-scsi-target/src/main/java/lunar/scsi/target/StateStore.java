package lunar.scsi.target;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import lunar.scsi.Bytes;

/**
 * Keeps the small state of a logical unit that must outlive its server: persistent reservations with APTPL, saved mode
 * pages, identifying information. Thread-safe.
 *
 * <p>A store belongs to one process, unless it {@linkplain #isShared is shared}: several servers then serve the unit,
 * and its reservations are those of all of them. Each server changes them by {@link #replace} and hears of the changes
 * of others by {@link #subscribe}; modes and identifying information are read when the unit starts.
 */
public interface StateStore {
    /**
     * A state as it was saved.
     *
     * @param version greater with each change
     * @param state empty where none was saved
     */
    record Saved(long version, Bytes state) {}

    /** Called when another process has changed a state. */
    @FunctionalInterface
    interface Listener {
        /**
         * Takes over the new state, which {@link #read} returns. Does not wait for changes of this process.
         *
         * @return ends when this process acts by the new state, and has aborted what that aborts; exceptionally where
         *         it cannot
         */
        CompletableFuture<Void> changed(String name);
    }

    /** A listener that is called. */
    @FunctionalInterface
    interface Subscription extends AutoCloseable {
        /** Ends the calls. */
        @Override
        void close();
    }

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

    /** Whether other processes change what is saved, too. */
    default boolean isShared() {
        return false;
    }

    /**
     * Returns the state of a name with its version.
     *
     * @throws IOException when it cannot be read
     */
    default Saved read(String name) throws IOException {
        return new Saved(0, load(name).map(Bytes::of).orElse(Bytes.EMPTY));
    }

    /**
     * Replaces the state of a name, unless it has changed since it was read; as durable as {@link #save}. A shared
     * store returns when every other process that has subscribed acts by the new state, or can certainly no longer
     * serve the unit. The default is for a store of one process, whose callers change a name one after the other.
     *
     * @param version of the state that is replaced
     * @return the version of the new state; empty where another process has changed the state
     * @throws IOException when it cannot be written; nobody has seen the new state then
     */
    default OptionalLong replace(String name, long version, byte[] state) throws IOException {
        save(name, state);
        return OptionalLong.of(version + 1);
    }

    /** Registers a listener for the changes of other processes; called on any thread, perhaps several times for one. */
    default Subscription subscribe(Listener listener) {
        return () -> {};
    }

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
