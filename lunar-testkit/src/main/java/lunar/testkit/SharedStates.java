package lunar.testkit;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
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
    private volatile HeldAnswers held = new HeldAnswers(0);

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

    /**
     * Loses the answers to a server from its next change on: the change is saved and others follow, then the store is
     * out of its reach until {@link #reach}.
     *
     * @param server what {@link #join} has returned
     */
    public void loseAnswers(StateStore server) { ((Member) server).reach = Reach.UNTIL_CHANGE; }

    /** Makes the store answer a server again. */
    public void reach(StateStore server) {
        ((Member) server).reach = Reach.ALWAYS;
    }

    /** Notifies a server of a state once more, as of a change that it knows already. */
    public void notifyAgain(StateStore server, String name) {
        for (StateStore.Listener listener : ((Member) server).listeners) {
            var _ = listener.changed(name);
        }
    }

    /** Holds back the answers to changes from now on, until what is returned is closed. */
    public HeldAnswers holdAnswers() {
        held = new HeldAnswers(1);
        return held;
    }

    /** Answers to changes that are saved and followed, and that come late. */
    public static final class HeldAnswers implements AutoCloseable {
        private final CountDownLatch saved;
        private final CountDownLatch released;

        private HeldAnswers(int count) {
            saved = new CountDownLatch(count);
            released = new CountDownLatch(count);
        }

        /** Waits until the answer to a change is held back. */
        public void awaitSaved() throws InterruptedException {
            if (!saved.await(FOLLOW_MS, TimeUnit.MILLISECONDS)) {
                throw new AssertionError("no change has been saved");
            }
        }

        private void pass() throws IOException {
            saved.countDown();
            try {
                if (!released.await(FOLLOW_MS, TimeUnit.MILLISECONDS)) {
                    throw new IOException("the answer was held back too long");
                }
            } catch (InterruptedException e) {
                throw new IOException("interrupted", e);
            }
        }

        /** Lets the answers go. */
        @Override
        public void close() { released.countDown(); }
    }

    /** Whether the store answers a server. */
    private enum Reach {
        ALWAYS, UNTIL_CHANGE, NEVER
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
        private volatile Reach reach = Reach.ALWAYS;

        private void requireReach() throws IOException {
            if (reach == Reach.NEVER) {
                throw new IOException("the store is out of reach");
            }
        }

        @Override
        public boolean isShared() { return true; }

        @Override
        public boolean isPersistent() { return true; }

        @Override
        public Saved read(String name) throws IOException {
            requireReach();
            return state(name);
        }

        @Override
        public Optional<byte[]> load(String name) throws IOException {
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
                throw new IOException("the store cannot be written");
            }
            requireReach();
            OptionalLong now = swap(name, version, state);
            if (now.isPresent()) {
                awaitOthers(name);
                held.pass();
            }
            if (reach == Reach.UNTIL_CHANGE) {
                reach = Reach.NEVER;
                requireReach();
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
