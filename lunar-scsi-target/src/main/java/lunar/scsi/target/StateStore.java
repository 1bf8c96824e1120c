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
 * Stores the small state of a logical unit that must outlive its server: persistent reservations with APTPL, saved mode
 * pages, identifying information, erasures. Thread-safe.
 *
 * <p>A store belongs to one process, unless it {@linkplain #isShared is shared}: several servers then serve the unit,
 * and share this state, with current mode pages and access states of port groups. Each server changes it by {@link
 * #replace}, one version of a name after another, and is notified of changes by other servers through {@link
 * #subscribe}.
 */
public interface StateStore {
    /**
     * Saved state with its version.
     *
     * @param version increases with each change
     * @param state empty if none was saved
     */
    record Saved(long version, Bytes state) {}

    /** Called when another process has changed a state. */
    @FunctionalInterface
    interface Listener {
        /**
         * Adopts the new state, which {@link #read} returns. Must not wait for changes by this process.
         *
         * @return completes when this process acts by the new state and the tasks that it aborts have ended;
         *        exceptionally if it cannot
         */
        CompletableFuture<Void> changed(String name);
    }

    /** Registration of a listener. */
    @FunctionalInterface
    interface Subscription extends AutoCloseable {
        /** Ends the notifications. */
        @Override
        void close();
    }

    /**
     * Returns the state that was last saved under a name; empty if there is none.
     *
     * @throws IOException if it cannot be read
     */
    Optional<byte[]> load(String name) throws IOException;

    /**
     * Replaces the state of a name. The new state is on stable storage when the method returns; a crash during the call
     * leaves either the old or the new state. Blocks.
     *
     * @param name lower-case letters, digits and hyphens
     * @throws IOException if it cannot be written
     */
    void save(String name, byte[] state) throws IOException;

    /**
     * Removes the state of a name, if there is one; durable like {@link #save}. The default implementation saves an
     * empty state.
     *
     * @throws IOException if it cannot be removed
     */
    default void remove(String name) throws IOException { save(name, new byte[0]); }

    /** Whether other processes may change the saved state. */
    default boolean isShared() {
        return false;
    }

    /**
     * Returns the state of a name with its version: the latest one, also while other processes are being told of it.
     *
     * @throws IOException if it cannot be read
     */
    default Saved read(String name) throws IOException {
        return new Saved(0, load(name).map(Bytes::of).orElse(Bytes.EMPTY));
    }

    /**
     * Replaces the state of a name, unless it has changed since it was read; durable like {@link #save}. With a shared
     * store, returns when every other subscribed process acts by the new state, or is known to serve the unit no
     * longer. The default implementation is for a store of one process, whose callers serialize changes of a name.
     *
     * @param version of the state that is replaced
     * @return the version of the new state; empty where another process has changed the state
     * @throws IOException when it is not known to be saved. It may be: {@link #read} then returns it. Where a shared
     *         store saves it later, it tells this process of it as of a change by another one
     */
    default OptionalLong replace(String name, long version, byte[] state) throws IOException {
        save(name, state);
        return OptionalLong.of(version + 1);
    }

    /**
     * Registers a listener for changes by other processes; called on any thread, possibly several times for one change.
     */
    default Subscription subscribe(Listener listener) { return () -> {}; }

    /**
     * Whether the saved state outlives the process; if not, APTPL and SP are rejected (SPC-5 sections 6.16 and 6.13).
     */
    boolean isPersistent();

    /** Returns a store in memory, whose content is lost when the process ends. */
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
            public void remove(String name) { states.remove(name); }

            @Override
            public boolean isPersistent() { return false; }
        };
    }

    /** Returns a store in the files of a directory, which is created if missing. Only one store per directory. */
    static StateStore inDirectory(Path directory) throws IOException {
        return new DirectoryStateStore(directory);
    }
}
