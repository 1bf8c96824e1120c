package lunar.testkit;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lunar.scsi.Bytes;
import lunar.scsi.target.StateStore;

/**
 * Shared state of a logical unit of several servers, in the memory of this process. Each server has its own store
 * ({@link #join}); other servers are notified of a change twice, because listeners must tolerate that. Thread-safe.
 */
public final class SharedStates {
    private static final long FOLLOW_MS = 30_000;

    private final Map<String, StateStore.Saved> states = new HashMap<>();
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private volatile boolean failing;

    /** Starts without any state. */
    public SharedStates() {}

    /** Returns the store of one more server. */
    public StateStore join() {
        var member = new Member();
        members.add(member);
        return member;
    }

    /** Makes every change fail from now on, or succeed again. */
    public void failing(boolean value) {
        failing = value;
    }

    private synchronized StateStore.Saved state(String name) {
        return states.getOrDefault(name, new StateStore.Saved(0, Bytes.EMPTY));
    }

    private synchronized OptionalLong swap(String name, long version, byte[] state) {
        if (state(name).version() != version) {
            return OptionalLong.empty();
        }
        states.put(name, new StateStore.Saved(version + 1, Bytes.of(state)));
        return OptionalLong.of(version + 1);
    }

    /** The store of a server. */
    private final class Member implements StateStore {
        private final List<Listener> listeners = new CopyOnWriteArrayList<>();

        @Override
        public boolean isShared() { return true; }

        @Override
        public boolean isPersistent() { return true; }

        @Override
        public Saved read(String name) { return state(name); }

        @Override
        public Optional<byte[]> load(String name) {
            Saved saved = read(name);
            return saved.version() == 0 ? Optional.empty() : Optional.of(saved.state().toArray());
        }

        @Override
        public void save(String name, byte[] state) throws IOException {
            while (replace(name, read(name).version(), state).isEmpty()) {
                Thread.onSpinWait();
            }
        }

        @Override
        public OptionalLong replace(String name, long version, byte[] state) throws IOException {
            if (failing) {
                throw new IOException("the store is unreachable");
            }
            OptionalLong now = swap(name, version, state);
            if (now.isPresent()) {
                awaitOthers(name);
            }
            return now;
        }

        private void awaitOthers(String name) throws IOException {
            var following = members.stream().filter(other -> !other.equals(this))
                    .flatMap(other -> other.listeners.stream())
                    .map(listener -> CompletableFuture.allOf(listener.changed(name),
                            listener.changed(name)))
                    .toArray(CompletableFuture[]::new);
            try {
                CompletableFuture.allOf(following).get(FOLLOW_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                throw new IOException("a server does not acknowledge the change", e);
            }
        }

        @Override
        public Subscription subscribe(Listener listener) {
            listeners.add(listener);
            return () -> listeners.remove(listener);
        }
    }
}
